"""The keys of a room: the code that learners type, the teacher's key, the signed seat that a browser keeps."""

from __future__ import annotations

import hashlib
import hmac
import secrets

# Characters that nobody can mistake for each other on a projector: without 0 and O, 1, I and L, and U, which is like V.
ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH = 6
_SECRET_BYTES = 16  # 128 bits


def new_code() -> str:
    """Draw six characters out of 30, that is, one of 729 million codes, so that nobody can predict the code."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def read_code(typed: str) -> str | None:
    """Read a typed code; None if the text cannot be a code. Small letters, spaces and hyphens do not matter.

    >>> read_code("k7w-2qd")
    'K7W2QD'
    >>> read_code("hello") is None
    True
    """
    code = typed.upper().replace(" ", "").replace("-", "")
    return code if len(code) == LENGTH and set(code) <= set(ALPHABET) else None


def spaced(code: str) -> str:
    """Write a code with a space, so that it can be read aloud."""
    return f"{code[:3]} {code[3:]}"


def new_secret() -> str:
    """A teacher's key, or the seal by which a room signs its seats: 128 random bits, 22 letters, digits, - and _."""
    return secrets.token_urlsafe(_SECRET_BYTES)


def hashed(secret: str) -> str:
    """The hash under which a secret is stored. The secret has 128 random bits, so it needs no salt and no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def new_seat(visit: str, seal: str) -> str:
    """The seat of a visit in the room with this seal: an id and its signature, 65 characters.

    A visit always gets the same seat, however often it asks. Only servers that know the seal can make a seat.
    """
    who = _mac(seal, f"seat of {visit}")
    return f"{who}.{_mac(seal, who)}"


def is_signed(seat: str, seal: str) -> bool:
    """Return whether a seat, which anybody may have written, was signed with this seal."""
    who, _, signature = seat.partition(".")
    return hmac.compare_digest(signature.encode("utf-8", "replace"), _mac(seal, who).encode())


def _mac(seal: str, text: str) -> str:
    return hmac.new(seal.encode(), text.encode("utf-8", "replace"), hashlib.sha256).hexdigest()[:32]
