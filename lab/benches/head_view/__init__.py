"""Head view: the attention of a layer as lines between two columns of tokens (after BertViz)."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from lab.course.sentences.looks import look_head
from lab.models.trace import Trace
from lab.ui import sidebar
from lab.ui.bench import BenchParts
from lab.ui.page import BenchPage
from lab.ui.parameters import HEADS, UNITS, WORDS


@dataclass(frozen=True)
class LinesView:
    """One layer of a run (from 0), with lines between its tokens or, with ``words``, between its words.

    ``first`` is the head to begin with, from 0: the head that the lab chooses, if it is in this layer; None once the
    learner has chosen heads.
    """

    trace: Trace
    layer: int
    words: bool
    first: int | None


def look(page: BenchPage, trace: Trace, step: str) -> LinesView:
    """Draw in the sidebar the choice of the layer, and of lines between tokens or between words."""
    layer = page.layer_control(trace)
    with sidebar.controls():
        units = UNITS.choose(
            "Lines between",
            help=(
                "With words, a word gets the sum of the attention to its tokens, and gives the mean of the attention "
                "from its tokens. So each row still adds up to 1."
            ),
        )
    first = look_head(trace)
    opens = HEADS.name not in st.session_state and first[0] == layer
    return LinesView(trace, layer, units == WORDS, first[1] if opens else None)


PARTS: BenchParts[LinesView] = BenchParts(look=look)
