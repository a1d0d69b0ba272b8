"""What opens a room: the code that learners type, the teacher's key, the secret that a browser keeps."""

from __future__ import annotations

import hashlib
import secrets

# No two of them are mistaken for each other on a projector: no 0 and O, no 1, I and L, no U beside V.
ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH = 6
_SECRET_BYTES = 16  # 128 bits


def new_code() -> str:
    """Six characters out of 30: one of 729 million, drawn so that nobody can foretell it."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def read_code(typed: str) -> str | None:
    """What somebody typed as a code; None where it cannot be one. Small letters, spaces and hyphens do not matter.

    >>> read_code("k7w-2qd")
    'K7W2QD'
    >>> read_code("hello") is None
    True
    """
    code = typed.upper().replace(" ", "").replace("-", "")
    return code if len(code) == LENGTH and set(code) <= set(ALPHABET) else None


def new_secret() -> str:
    """A teacher's key, or what tells a participant from another: 128 random bits as 22 letters, digits, - and _."""
    return secrets.token_urlsafe(_SECRET_BYTES)


def hashed(secret: str) -> str:
    """What is stored of a secret. It has 128 random bits, so it needs no salt and no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
