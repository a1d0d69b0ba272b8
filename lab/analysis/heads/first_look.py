"""Choose the row to show first: a row that spreads its attention over several words, so that there is much to see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lab.analysis.heads.values import Mask, Weights, as_heads, layers, places_left_out
from lab.analysis.words.masking import whole_words
from lab.models.memo import once

if TYPE_CHECKING:
    from lab.models.trace import Trace

# A row is soft if its largest weight is from LEAST to MOST, and its second largest weight is at least SECOND.
LEAST, MOST, SECOND = 0.3, 0.7, 0.1
# A row with a weight above this looks at one key only.
ONE_HOT = 0.9
# The points for each wish that a row meets; each wish counts more than all later wishes together.
_WORTH = (32.0, 16.0, 8.0, 4.0, 2.0, 1.0)
_ALL_BUT_ONE = sum(_WORTH) - 1
# The number of rows to look at in a long text: the first rows, because the page shows the text's beginning.
ROWS = 64


@dataclass(frozen=True)
class Look:
    """A head and one of its rows, all from 0."""

    layer: int
    head: int
    query: int


@once
def first_look(traced: Trace, about: int | None = None) -> Look:
    """Choose the row of a model to show first: the row that meets most of the following wishes, most important first.

    The row is not one-hot; it is soft; its largest weight is on another word; its second largest weight is on another
    word; the largest weight is not on a neighbour; the largest weight is on an earlier word. If rows tie, the row whose
    largest weight is nearest to one half wins. Candidates are the rows of whole words among the first 64 tokens, or
    only the row of ``about`` (from 0). The search stops after the first layer with a row that meets all wishes. The
    rule is the lab's own. Raises IndexError if ``about`` is not among the first 64 tokens.
    """
    words, rows = _words(traced), _rows(traced, about)
    best: tuple[float, Look] | None = None
    for layer, attention in enumerate(layers(traced)):
        found = _best(attention, words, rows, layer)
        best = found if best is None else max(best, found, key=lambda each: each[0])
        if best[0] > _ALL_BUT_ONE:
            break
    assert best is not None  # every model has at least one layer
    return best[1]


@once
def first_look_in(traced: Trace, layer: int, head: int) -> Look:
    """Choose the row to show first in one head. Raises IndexError for a layer or a head that does not exist."""
    words, attention = _words(traced), traced.layer(layer).attention
    if not 0 <= head < len(attention):
        raise IndexError(f"head {head}: {traced.model.id} has heads 0 to {len(attention) - 1}.")
    _, found = _best(as_heads(attention[head : head + 1]), words, words, layer)
    return Look(layer, head, found.query)


@once
def heaviest_key(traced: Trace, layer: int, head: int, query: int) -> int:
    """Return the key, from 0, with the largest weight of a row.

    Returns the query itself only if the query has all the weight.
    """
    row = as_heads(traced.layer(layer).attention[head : head + 1])[0, query].copy()
    row[query] = -1 if row[query] < 1 else 1
    return int(row.argmax())


def _words(traced: Trace) -> Mask:
    """Return a mask of the tokens that are whole words and not among :func:`places_left_out`.

    If there are no such words, the mask has all tokens that are not left out; if all are left out, it has all tokens.
    """
    out, _ = places_left_out(traced)
    found = np.zeros(len(traced), dtype=np.bool_)
    found[list(whole_words(traced.encoding, np.flatnonzero(~out).tolist()))] = True
    return found if found.any() else ~out if not out.all() else ~found


def _rows(traced: Trace, about: int | None) -> Mask:
    """Return a mask of the candidate rows. Raises IndexError if ``about`` is not among the first 64 tokens."""
    if about is None:
        return _words(traced)
    if not 0 <= about < min(len(traced), ROWS):
        raise IndexError(f"token {about}: rows 0 to {min(len(traced), ROWS) - 1} are looked at.")
    return np.arange(len(traced)) == about


def _best(attention: Weights, words: Mask, asked: Mask, layer: int) -> tuple[float, Look]:
    """Return the best row in ``attention`` (H, n, n) among the rows in ``asked``, and the points of this row."""
    rows = attention[:, :ROWS]
    place, key, rest = np.arange(rows.shape[1]), rows.argmax(axis=-1), rows.copy()
    np.put_along_axis(rest, key[..., None], -1, axis=-1)
    after = rest.argmax(axis=-1)
    top, second = (np.take_along_axis(rows, each[..., None], axis=-1)[..., 0] for each in (key, after))
    wishes = (
        top < ONE_HOT,
        (top >= LEAST) & (top <= MOST) & (second >= SECOND),
        words[key] & (key != place),
        words[after] & (after != place),
        np.abs(key - place) > 1,
        key < place,
    )
    met = sum(value * wish for value, wish in zip(_WORTH, wishes, strict=True))
    worth = np.where(asked[place], met - np.abs(top - 0.5), -np.inf)
    head, query = divmod(int(worth.argmax()), len(place))
    return float(worth[head, query]), Look(layer, head, query)
