"""Head specialization: the radar of a layer's heads, and the heads whose pattern has a name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lab.analysis.heads.named import MIXED, name_heads, scores_of, trace_chance, uniform_scores
from lab.analysis.heads.patterns import PATTERNS, trace_patterns
from lab.analysis.heads.specialization import (
    SPECIALIZATIONS,
    Dimension,
    relative_to_layer,
    specialization,
)
from lab.analysis.heads.values import Values
from lab.charts.base.axes import visible
from lab.charts.base.plotted import Plotted
from lab.charts.cells.categories import Category, CategoryMap, category_map
from lab.charts.marks import radar_marks
from lab.evidence import notable
from lab.models.trace import Trace

_NEAR = ("previous_token", "next_token")
_IDS = ("broad", "next_token", "previous_token", "same_word", "delimiter", "bag_of_words")
_SIGNS = dict(zip(_IDS, "BNPWDS", strict=True))
_NAMES = (*(Category(each.name, _SIGNS[each.id]) for each in PATTERNS), Category("Mixed", "–", rest=True))


def axis_name(traced: Trace, dimension: Dimension) -> str:
    """The name of a dimension; the dimension of [CLS] is named after the first token, as not all models have [CLS]."""
    if dimension.id == "cls":
        return traced.labels[0] if traced.encoding.special[0] else "First token"
    return dimension.name


def present(raw: Values) -> NDArray[np.intp]:
    """The indices of the numbers that have values, that is, for which the text has a token. ``raw`` (H, K)."""
    return np.flatnonzero(np.isfinite(raw).all(axis=0))


@dataclass(frozen=True, eq=False)
class Profile:
    """The numbers that describe the heads of a layer, (H, K) each; nan where the text has no such token.

    Attributes
    ----------
    axes
        The names of the K numbers.
    raw, corrected
        The values, and the values as multiples of a uniform head's.
    """

    axes: tuple[str, ...]
    raw: Values
    corrected: Values

    @property
    def relative(self) -> Values:
        """The values between the smallest, 0, and the largest, 1, of the layer."""
        return relative_to_layer(self.raw)

    @property
    def there(self) -> NDArray[np.intp]:
        """The indices of the numbers for which the text has a token."""
        return present(self.raw)


def profile(traced: Trace, layer: int, left_out: bool = False) -> Profile:
    """Return the seven metrics of specialization and the scores for the tokens before and after, for a layer's heads.

    ``left_out`` leaves out the special tokens, or the first token if the model has no special tokens, and with it the
    number that is about this token. Raises :class:`lab.text.tags.pipeline.PipelineUnavailable`.
    """
    found = specialization(traced, only_words=left_out)
    scores, even = scores_of(trace_patterns(traced, only_words=left_out)), uniform_scores(traced, only_words=left_out)
    near = [place for place, each in enumerate(PATTERNS) if each.id in _NEAR]
    names = [*(axis_name(traced, each) for each in SPECIALIZATIONS), *(PATTERNS[place].name for place in near)]
    raw = np.column_stack([found.raw[layer], *(scores[place, layer] for place in near)])
    times = [scores[place, layer] / even[place] for place in near]
    corrected = np.column_stack([found.corrected[layer], *times])
    mark = [each.id for each in SPECIALIZATIONS].index("cls")
    kept = [at for at in range(len(names)) if at != mark or at in present(raw)]
    return Profile(tuple(names[at] for at in kept), raw[:, kept], corrected[:, kept])


def radar(traced: Trace, layer: int, head: int, everyone: bool = False, left_out: bool = False) -> Plotted:
    """Draw the profile of ``head``, or of ``everyone`` in its layer, relative to the layer.

    A number for which the text has no token has an axis, too, with a point at the center.

    Raises ValueError for a text with fewer than three kinds of token, and
    :class:`lab.text.tags.pipeline.PipelineUnavailable`.
    """
    found = profile(traced, layer, left_out)
    if len(found.there) < 3:
        raise ValueError("A radar needs three values, and this text has fewer kinds of tokens.")
    axes = [name if at in found.there else f"{name} (none)" for at, name in enumerate(found.axes)]
    relative = np.nan_to_num(found.relative)
    heads = range(len(found.raw)) if everyone else [head]
    jobs = notable.told(notable.shipped(traced.model))
    names = {each: " · ".join(filter(None, (f"Head {each + 1}", jobs.get((layer, each))))) for each in heads}
    told = {each: _hover(names[each], axes, relative[each], found.raw[each], found.corrected[each]) for each in heads}
    shapes = {names[each]: radar_marks.Shape(relative[each], told[each]) for each in heads}
    title = f"Specialization, layer {layer + 1}" + ("" if everyone else f", head {head + 1}")
    axis_title = "from the lowest of this layer, 0, to the highest, 1"
    table = _numbers(axes, relative, found.raw, found.corrected)
    return radar_marks.radar(shapes, axes, title=title, axis_title=axis_title, chosen=names[head], table=table)


def _hover(name: str, axes: list[str], relative: Values, raw: Values, corrected: Values) -> list[str]:
    return [
        f"{name}, {visible(axis)}<br>raw {raw[place]:.3f}, corrected {corrected[place]:.2f}"
        f"<br>relative to the layer {relative[place]:.2f}"
        for place, axis in enumerate(axes)
    ]


def _numbers(axes: list[str], relative: Values, raw: Values, corrected: Values) -> pd.DataFrame:
    """One row for each head and axis."""
    heads = len(raw)
    return pd.DataFrame(
        {
            "head": np.repeat(np.arange(1, heads + 1), len(axes)),
            "metric": [visible(axis) for axis in axes] * heads,
            "raw": raw.ravel(),
            "corrected": corrected.ravel(),
            "relative to the layer": relative.ravel(),
        }
    )


def names_of(traced: Trace, only_words: bool = False) -> NDArray[np.str_]:
    """The name of every head on this text, (L, H) ids of patterns.

    ``only_words`` leaves out the special tokens, or the first token if the model has no special tokens.
    """
    chance = trace_chance(traced, only_words=only_words)
    return name_heads(trace_patterns(traced, only_words=only_words), chance)


def named_heads(
    traced: Trace,
    layer: int,
    head: int,
    only_words: bool = False,
    title: str = "Heads that have a name in this text",
) -> CategoryMap:
    """Draw the named pattern of each head on this text, as in :func:`names_of`; ``head`` of ``layer`` is outlined."""
    return names_map(names_of(traced, only_words), layer, head, title)


def names_map(names: NDArray[np.str_], layer: int, head: int, title: str) -> CategoryMap:
    """Draw a map of names, (L, H) ids of patterns."""
    order = [*(pattern.id for pattern in PATTERNS), MIXED]
    places = np.array([[order.index(str(name)) for name in row] for row in names])
    return category_map(places, _NAMES, title=title, value_title="Name", highlight=(layer, head))
