"""Words whose vectors are like the vector of a given word, in the token table and after the last layer."""

from __future__ import annotations

from collections.abc import Sequence

from lab.analysis.words.neighbours import Neighbour, Neighbours, cosine_by_state, nearest_in_table, nearest_in_texts
from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.charts.marks.lines import lines, settled
from lab.course.words import listed, quoted
from lab.figures.axes import STATES
from lab.models.trace import Trace
from lab.text.bundled import bundled_sentences

NEAREST = 8
NAMED = 3  # the number of neighbours that a sentence names; the figure shows more


def in_table(traced: Trace, token: int) -> Neighbours:
    """The words whose rows of the token table are most like the row of ``token``."""
    return nearest_in_table(traced.model, traced.token_ids[token], NEAREST)


def after_layers(traced: Trace, token: int, texts: tuple[str, ...] = ()) -> Neighbours:
    """The words whose last vectors in ``texts``, or in the lab's sentences, are most like the last one of ``token``."""
    return nearest_in_texts(traced, token, texts or bundled_sentences(), NEAREST)


def near_in_table(traced: Trace, token: int) -> Figure:
    """Draw the bars of :func:`in_table`; the dashed line is the mean of all.

    Raises ValueError if no other word exists.
    """
    return _bars(in_table(traced, token), f"Words most similar to {traced.labels[token]}, in the token table")


def near_after_layers(traced: Trace, token: int, texts: tuple[str, ...] = ()) -> Figure:
    """Draw the bars of :func:`after_layers`; dashed: the mean of all places.

    Raises ValueError if no other word exists.
    """
    found = after_layers(traced, token, texts)
    return _bars(found, f"Words most similar to {traced.labels[token]} ({token + 1}), after the last layer")


def _bars(found: Neighbours, title: str) -> Figure:
    values = [each.cosine for each in found.nearest]
    scale = Scale("Cosine", (min(0.0, found.mean, *values), 1.0), ".2f")
    return bars([each.word for each in found.nearest], values, scale, title=title, reference=found.mean)


def apart_by_state(
    first: Trace, token: int, second: Trace, other: int, alike: Trace | None = None, place: int = 0
) -> Figure:
    """Draw how similar a word is to itself in another sentence, or at another place, from the input to the last layer.

    ``alike`` has the word at ``place`` in the meaning of ``first``; it gives a second line for comparison.
    """
    drawn = {"cosine" if alike is None else "two meanings": cosine_by_state(first, token, second, other)}
    if alike is not None:
        drawn["one meaning"] = cosine_by_state(first, token, alike, place)
    states = len(first.hidden_states)
    scale = Scale("Cosine", (min(0.0, *(float(cosines.min()) for cosines in drawn.values())), 1.0))
    return settled(
        lines(
            drawn,
            AxisPlaces(STATES, range(states)),
            scale,
            title=f"Cosine of two vectors of {first.labels[token]}",
        )
    )


def words(found: Sequence[Neighbour]) -> str:
    """The words of some neighbours, in a sentence."""
    return listed([quoted(each.word) for each in found])
