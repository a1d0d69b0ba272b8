"""The blank in a text as BERT writes it, and as a learner may type it."""

from __future__ import annotations

import re

MASK = "[MASK]"
_ALONE = re.compile(r"(?<!\w)_+(?!\w)|▢")  # as a word of its own: not in a name such as snake_case


def with_masks(text: str) -> str:
    """Return a text with :data:`MASK` in the place of each blank that is typed as a word of "_", or as "▢"."""
    return _ALONE.sub(MASK, text)
