"""Read GIFT as Moodle's documentation of the format describes it; it shares no code with the lab's writer.

Only what the lab writes is read: categories, and questions with a name, a text and options with feedback.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ESCAPED = re.compile(r"\\([\\~=#{}:])")
# Escaped signs wait here until the structure is read.
_WAITING = {sign: chr(0xE000 + place) for place, sign in enumerate("\\~=#{}:")}


@dataclass(frozen=True)
class Read:
    """A question: its name, its text, and each option's text, explanation and share of the mark."""

    name: str
    text: str
    options: tuple[tuple[str, str, int], ...]


def read(gift: str) -> tuple[str, list[Read]]:
    """Return the category and the questions. An empty line ends a question. Raises ValueError for what is none."""
    blocks = [block for block in re.split(r"\n\s*\n", gift) if block.strip()]
    category = blocks[0].strip().removeprefix("$CATEGORY: ")
    return category, [_question(block) for block in blocks[1:]]


def _question(block: str) -> Read:
    lines = [line for line in block.splitlines() if not line.strip().startswith("//")]
    text = _ESCAPED.sub(lambda found: _WAITING[found[1]], "\n".join(lines).strip())
    whole = re.fullmatch(r"::([^:]*)::([^{}]*)\{([^{}]*)\}", text)
    if whole is None:
        raise ValueError(f"no question: {block}")
    options = [_option(part) for part in re.split(r"(?=[=~])", whole[3].strip()) if part]
    return Read(_plain(whole[1]), _formatted(whole[2]), tuple(options))


def _option(part: str) -> tuple[str, str, int]:
    text, _, why = part[1:].partition("#")
    if "#" in why:
        raise ValueError(f"two explanations: {part}")
    return _formatted(text), _formatted(why), 100 if part[0] == "=" else 0


def _formatted(text: str) -> str:
    """Read a text that says that it is HTML."""
    if not text.strip().startswith("[html]"):
        raise ValueError(f"not HTML: {text}")
    return _plain(text.strip().removeprefix("[html]"))


def _plain(text: str) -> str:
    for sign, waiting in _WAITING.items():
        text = text.replace(waiting, sign)
    return text.strip()
