"""Where to look first, before anybody chose: a row that shares its attention out, so that there is much to weigh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lab.analysis.heads.values import Mask, Weights, as_heads, layers, places_left_out
from lab.analysis.words.masking import whole_words
from lab.models.memo import once

if TYPE_CHECKING:
    from lab.models.trace import Trace

# A row is soft if its largest weight lies between these, and its second can be seen.
LEAST, MOST, SECOND = 0.3, 0.7, 0.1
# Above it a row has one key, and nothing is weighed.
ONE_HOT = 0.9
# What meeting the wishes of a row is worth: each counts for more than all later ones together.
_WORTH = (32.0, 16.0, 8.0, 4.0, 2.0, 1.0)
_ALL_BUT_ONE = sum(_WORTH) - 1
# Of a long text, the rows of the first tokens: what is drawn of it begins there, and so does a reader.
_ROWS = 64


@dataclass(frozen=True)
class Look:
    """A head and one of its rows, all from 0."""

    layer: int
    head: int
    query: int


@once
def first_look(traced: Trace, about: int | None = None) -> Look:
    """The row of a model to begin with: that which meets most of these wishes, the most important first.

    It is not one-hot; it is soft; its largest weight is on another word; its second is on another word; the largest is
    on no neighbour, and on an earlier word. Of equals it is the one whose largest weight is nearest to one half. Rows
    are those of whole words among the first 64 tokens, or that of ``about`` (from 0) alone. Layers after the first that
    meets all wishes are not looked at. The rule is the lab's own. Raises IndexError for another ``about``.
    """
    words, rows = _words(traced), _rows(traced, about)
    best: tuple[float, Look] | None = None
    for layer, attention in enumerate(layers(traced)):
        found = _best(attention, words, rows, layer)
        best = found if best is None else max(best, found, key=lambda each: each[0])
        if best[0] > _ALL_BUT_ONE:
            break
    assert best is not None  # a model has a layer
    return best[1]


@once
def first_look_in(traced: Trace, layer: int, head: int) -> Look:
    """The row worth a look first in one head. Raises IndexError for a layer or a head that does not exist."""
    words, attention = _words(traced), traced.layer(layer).attention
    if not 0 <= head < len(attention):
        raise IndexError(f"head {head}: {traced.model.id} has heads 0 to {len(attention) - 1}.")
    _, found = _best(as_heads(attention[head : head + 1]), words, words, layer)
    return Look(layer, head, found.query)


@once
def heaviest_key(traced: Trace, layer: int, head: int, query: int) -> int:
    """The key, from 0, with the largest weight of a row; the query itself only where it may see nothing else."""
    row = as_heads(traced.layer(layer).attention[head : head + 1])[0, query].copy()
    row[query] = -1 if row[query] < 1 else 1
    return int(row.argmax())


def _words(traced: Trace) -> Mask:
    """Which tokens are whole words, and not the first one where it takes what heads have no use for; else all."""
    out, _ = places_left_out(traced)
    found = np.zeros(len(traced), dtype=np.bool_)
    found[list(whole_words(traced.encoding, np.flatnonzero(~out).tolist()))] = True
    return found if found.any() else ~out if not out.all() else ~found


def _rows(traced: Trace, about: int | None) -> Mask:
    """Which rows are looked at. Raises IndexError for a token that is not among the first 64."""
    if about is None:
        return _words(traced)
    if not 0 <= about < min(len(traced), _ROWS):
        raise IndexError(f"token {about}: rows 0 to {min(len(traced), _ROWS) - 1} are looked at.")
    return np.arange(len(traced)) == about


def _best(attention: Weights, words: Mask, asked: Mask, layer: int) -> tuple[float, Look]:
    """The best row of (H, n, n) among those ``asked`` for, and what it is worth."""
    rows = attention[:, :_ROWS]
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
