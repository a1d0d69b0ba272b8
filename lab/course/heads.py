"""Phrases for sentences about heads, and about the tokens on which heads park their attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lab.analysis.heads.values import places_left_out
from lab.course.words import escaped
from lab.models.interventions import Head

if TYPE_CHECKING:
    from lab.models.trace import Trace


def head_name(head: Head) -> str:
    """Name a head inside a sentence: its layer, and its number in the layer, both from 1."""
    return f"layer {head[0] + 1}, head {head[1] + 1}"


def aside(trace: Trace) -> str:
    """The tokens that are not words of the text: “[CLS] and [SEP]”, “the first token”. Not yet escaped."""
    out, special = places_left_out(trace)
    if not special:
        return "the first token"
    return listed([trace.labels[place] for place in np.flatnonzero(out)])


def resting_place(trace: Trace) -> str:
    """The tokens that are not words of the text, escaped for Markdown."""
    return escaped(aside(trace))


def listed(names: Sequence[str]) -> str:
    """Join names to “a”, “a and b” or “a, b and c”; each name occurs once."""
    *most, last = dict.fromkeys(names)
    return f"{', '.join(most)} and {last}" if most else last


def percent(part: float) -> str:
    """Write a share as a percentage, which is 100% only if the share is 1."""
    return "more than 99%" if 0.995 <= part < 1 else f"{part:.0%}"


def heads(count: int) -> str:
    """“1 head”, “3 heads”."""
    return f"{count} head{'' if count == 1 else 's'}"
