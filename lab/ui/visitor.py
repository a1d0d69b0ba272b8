"""Who a visit belongs to, as far as a server can know it: an address and a browser.

Opening a page costs nothing, so a share of the server belongs to a visitor and not to a visit.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

_XSRF = "_streamlit_xsrf"


@dataclass(frozen=True)
class Visitor:
    """The address and the browser of a visit. Where the server knows no address, each visit is a visitor of its own.

    A school has one address for all its browsers. Whoever writes a program may claim to be many browsers, but not many
    addresses.
    """

    address: str
    browser: str


def this_visitor() -> Visitor:
    """Return the visitor whose page this thread draws."""
    context = get_script_run_ctx()
    return Visitor(address() or f"visit {'' if context is None else context.session_id}", _browser())


def address() -> str:
    """Return the address from which this visit comes; empty if the server does not know it, as in a test.

    Behind a balancer, every visit comes from the balancer, which names the visitor's address in the header
    ``LAB_ADDRESS_HEADER``.
    """
    header = os.environ.get("LAB_ADDRESS_HEADER", "")
    found = st.context.headers.get(header) if header else st.context.ip_address
    return found if isinstance(found, str) else ""


def _browser() -> str:
    """Return what Streamlit's cookie against forged requests says in each visit of this browser, and in no other one.

    The cookie is masked anew each time: ``2|mask|masked|seconds``, in hexadecimal digits.
    """
    parts = str(st.context.cookies.get(_XSRF, "")).split("|")
    try:
        mask, masked = bytes.fromhex(parts[1]), bytes.fromhex(parts[2])
    except (IndexError, ValueError):
        return ""
    return bytes(byte ^ mask[place % 4] for place, byte in enumerate(masked)).hex() if len(mask) == 4 else ""
