"""What learners type, by kind: the sentence and, for a pair, the second one. Every lesson must bear all of it."""

from __future__ import annotations

from collections.abc import Mapping

from tests.sentences import CAT, FOLLOWS
from tests.thorough import these

ONE = "one sentence"
PAIR = "a pair"
TEXTS: Mapping[str, tuple[str, str]] = {
    ONE: (CAT, ""),
    PAIR: FOLLOWS,
    "one token": ("a", ""),
    "more than 512 tokens": ("The word is here again. " * 160, ""),
    "emoji and arabic": ("👩‍👩‍👧 🏳️‍🌈 ok. 🙂 \u202eالقط جلس على السجادة. هو متعب.", ""),
    "harm": ("<script>alert(1)</script> $x$ :red[a] `b` [MASK] a\x00b", ""),
}
LONG = "more than 512 tokens"
# What a test of all texts reads: by day a pair, the longest and the most hostile text.
WALKED = these(TEXTS, PAIR, LONG, "harm")
EMPTY = ("", "   \t  ")
