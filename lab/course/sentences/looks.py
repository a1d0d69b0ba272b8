"""Where a page looks first: in an example at its key word, in another text at its blank, with the head of the course.

In another model, and in a text without a blank, it looks at the head or the row that ``first_look`` picks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lab.analysis.heads.first_look import ROWS, Look, first_look, first_look_in
from lab.course.sentences.examples import example_named, example_of
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.encoding import BLANK, MASK

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel
    from lab.models.trace import Trace

# The sentence of the course's story, and the head that looks from its blank at the country; layer and head from 0.
STORY_TEXT = example_named("A capital").text
STORY_HEAD = (5, 3)


def as_read(model: LoadedModel, text: str) -> str:
    """Return a text of the course as ``model`` reads it: with its own mask, or without one, the text before the blank.

    A model without a mask predicts what comes next, so it reads only what is before the blank.
    """
    if MASK not in text:
        return text
    mask = None if model.config.causal else model.mask
    return text.partition(MASK)[0].rstrip() if mask is None else text.replace(MASK, mask[0])


def is_story(trace: Trace, text: str = STORY_TEXT) -> bool:
    """Return whether a run is the one about which the course is written: its ``text``, its model, unchanged."""
    told = trace.model.id == DEFAULT_MODEL and trace.interventions.changes_nothing
    return told and trace.text == text and trace.pair is None


def is_story_blank(trace: Trace, query: int) -> bool:
    """Return whether the course is written about this token: the blank of its sentence, in its model."""
    return is_story(trace) and trace.labels[query] == BLANK


def look(trace: Trace) -> Look:
    """The head and the row with which a page begins; layer, head and query count from 0."""
    about = _about(trace)
    if about is None or trace.labels[about] != BLANK or trace.model.id != DEFAULT_MODEL:
        return first_look(trace, about)
    # Another example shows its point in a head of its own.
    example = example_of(trace.text, trace.pair or "") is not None and not is_story(trace)
    return first_look(trace, about) if example else Look(*STORY_HEAD, about)


def look_in(trace: Trace, layer: int, head: int) -> Look:
    """The row with which a page begins in one head. Raises IndexError for a layer or a head that does not exist."""
    found, about = first_look_in(trace, layer, head), _about(trace)
    return found if about is None else Look(layer, head, about)


def look_head(trace: Trace) -> tuple[int, int]:
    """The layer and head with which a page begins, from 0."""
    found = look(trace)
    return found.layer, found.head


def _about(trace: Trace) -> int | None:
    """The place, from 0, of the word that an example is about, if this word is one token; else of the only blank."""
    example = example_of(trace.text, trace.pair or "")
    if example is None or not example.about:
        blanks = [place for place, label in enumerate(trace.labels[:ROWS]) if label == BLANK]
        return blanks[0] if len(blanks) == 1 else None
    found = re.search(rf"(?<!\w){re.escape(example.about)}(?!\w)", trace.text)
    assert found is not None, f"{example.name}: no {example.about}"
    # GPT-2 includes the space before a word in its token.
    begins = (found.start(), found.start() - 1)
    spans = zip(trace.encoding.in_pair, trace.offsets, strict=True)
    return next((i for i, (pair, (a, b)) in enumerate(spans) if not pair and a in begins and b == found.end()), None)
