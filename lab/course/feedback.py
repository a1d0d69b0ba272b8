"""Where feedback goes: an address that the operator sets, filled with the link to the view that it is about."""

from __future__ import annotations

import os
import re
from urllib.parse import quote, urlsplit

VARIABLE = "LAB_FEEDBACK"
_PLACE = "{link}"
# A longer address is refused by programs for mail, and by some servers.
_LONGEST = 2_000
_WRONG = f"{VARIABLE} is neither an https:// page nor a mailto: address, so no link to it is shown."


class WrongAddress(ValueError):
    """Raised for an address that no learner may be sent to; the message says so to the operator."""


def feedback_address() -> str:
    """The address that the operator set; "" if there is none. Raises WrongAddress."""
    address = os.environ.get(VARIABLE, "").strip()
    if not address:
        return ""
    try:
        parts = urlsplit(address)
        page = parts.scheme == "https" and bool(parts.hostname)
    except ValueError:  # brackets that are no address of the internet
        raise WrongAddress(_WRONG) from None
    mail = parts.scheme == "mailto" and "@" in parts.path
    if not (page or mail) or re.search(r"[\s\x00-\x1f\x7f<>\"\\]", address):
        raise WrongAddress(_WRONG)
    return address


def with_link(address: str, link: str) -> str:
    """Fill ``link`` in where ``address`` says {link}; otherwise as a mail's text, or as the page's parameter "link".

    A link that would make the address too long is left out.

    >>> with_link("mailto:lab@school.example", "https://lab.example/Flow?text=a&layer=2")
    'mailto:lab@school.example?body=https%3A%2F%2Flab.example%2FFlow%3Ftext%3Da%26layer%3D2'
    """
    filled = _filled(address, quote(link, safe=""))
    return filled if len(filled) <= _LONGEST else _filled(address, "")


def _filled(address: str, link: str) -> str:
    if _PLACE in address or not link:
        return address.replace(_PLACE, link)
    parts = urlsplit(address)
    added = f"{'body' if parts.scheme == 'mailto' else 'link'}={link}"
    return parts._replace(query=f"{parts.query}&{added}" if parts.query else added).geturl()
