"""Where a page looks first: at the example's key word, otherwise at the row that ``first_look`` picks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lab.analysis.heads.first_look import Look, first_look, first_look_in
from lab.course.sentences.examples import example_of

if TYPE_CHECKING:
    from lab.models.trace import Trace


def look(trace: Trace) -> Look:
    """The head and the row with which a page begins; layer, head and query count from 0."""
    return first_look(trace, _about(trace))


def look_in(trace: Trace, layer: int, head: int) -> Look:
    """The row with which a page begins in one head. Raises IndexError for a layer or a head that does not exist."""
    found, about = first_look_in(trace, layer, head), _about(trace)
    return found if about is None else Look(layer, head, about)


def look_head(trace: Trace) -> tuple[int, int]:
    """The layer and head with which a page begins, from 0."""
    found = look(trace)
    return found.layer, found.head


def _about(trace: Trace) -> int | None:
    """The place, from 0, of the word that an example is about, if the text is an example and the word is one token."""
    example = example_of(trace.text, trace.pair or "")
    if example is None or not example.about:
        return None
    found = re.search(rf"(?<!\w){re.escape(example.about)}(?!\w)", trace.text)
    assert found is not None, f"{example.name}: no {example.about}"
    # GPT-2 includes the space before a word in its token.
    begins = (found.start(), found.start() - 1)
    spans = zip(trace.encoding.in_pair, trace.offsets, strict=True)
    return next((i for i, (pair, (a, b)) in enumerate(spans) if not pair and a in begins and b == found.end()), None)
