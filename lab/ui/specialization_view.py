"""What the screens of the lesson on head specialization share: tags, names of dimensions, the map of names."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from lab.analysis.patterns import MIXED, PATTERNS
from lab.analysis.specialization import SPECIALIZATIONS, Dimension
from lab.charts.categories import Category, category_map
from lab.course.words import escaped
from lab.models.trace import Trace
from lab.text.pipeline import PipelineUnavailable
from lab.ui import cached_tags
from lab.ui.attention_steps import View
from lab.ui.figures import draw
from lab.ui.selection import TOY

LESSON = "head-specialization"
SIGNS = {
    "broad": "B", "next_token": "N", "previous_token": "P", "same_word": "W", "delimiter": "D", "bag_of_words": "S",
    MIXED: "–",
}  # fmt: skip
NAMES = (
    *(Category(pattern.name, SIGNS[pattern.id]) for pattern in PATTERNS),
    Category("Mixed", SIGNS[MIXED], rest=True),
)

Tags = tuple[tuple[str | None, ...], tuple[str | None, ...]]


def tags_of(view: View) -> Tags | None:
    """Part of speech and entity of each token; None, with the reason on screen, where there are none."""
    if view.page.selection.mode == TOY:
        st.info(
            "Number sentences have no parts of speech. “Named patterns”, “Many sentences” and “Clusters” work on toys; "
            "for this step, switch the input in the sidebar to Sentence.",
            icon=":material/info:",
        )
        return None
    return tags_or_reason(view.trace)


def tags_or_reason(trace: Trace) -> Tags | None:
    """The same for any text."""
    try:
        cached_tags.pipeline()  # by itself, so that its spinner is seen
        return cached_tags.tags(trace)
    except PipelineUnavailable as error:
        st.warning(
            f"{escaped(str(error))} Without it there are no parts of speech. “Named patterns” works without.",
            icon=":material/extension_off:",
        )
        return None


def name_of(dimension: Dimension, trace: Trace) -> str:
    """A dimension's name; what stands first in the text is not everywhere [CLS]."""
    if dimension.id == "cls":
        return escaped(trace.tokens[0]) if trace.encoding.special[0] else "First token"
    return dimension.name


def plain_name(dimension: Dimension, trace: Trace) -> str:
    """The same where no Markdown is read: on axes and in selectors."""
    if dimension.id == "cls":
        return trace.tokens[0] if trace.encoding.special[0] else "First token"
    return dimension.name


def dimension(id: str) -> Dimension:
    """A dimension by its id."""
    return next(known for known in SPECIALIZATIONS if known.id == id)


def draw_names(names: NDArray[np.str_], view: View, title: str, key: str) -> dict[str, Any]:
    """The map of names, (L, H) ids of patterns; a click chooses a head."""
    order = [*(pattern.id for pattern in PATTERNS), MIXED]
    places = np.array([[order.index(str(name)) for name in row] for row in names])
    return draw(
        category_map(
            places, NAMES, title=title, row_title="Layer", column_title="Head", value_title="Name",
            highlight=(view.layer.index, view.head), select=True,
        ),
        key, clickable=True,
    )  # fmt: skip
