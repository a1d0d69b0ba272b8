"""Through several layers: the picture of a token to which other tokens bring vectors, and of a cut."""

from __future__ import annotations

import streamlit as st

from lab.analysis.flow.arriving import arriving
from lab.analysis.flow.cuts import cut_run
from lab.course.pages import bench_of, experiment_of
from lab.lessons.multi_head_attention import meanings
from lab.ui.drawing import code
from lab.ui.frame.closing import meaning, way_to
from lab.ui.shared.one_head import OneHead
from lab.ui.shared.word_forms import show_word_forms
from lab.ui.terms import say

_HERE = "multi-head-attention"


def show_layers(view: OneHead) -> None:
    """Show the picture of all layers at the chosen token."""
    say(
        "Each line is a token, and each column is a layer. A wide link brings a long vector to "
        f"{view.token(view.query)}. If the links of a layer are weak, the layer adds little to the token’s own vector."
    )
    st.fragment(_show)(view)
    way_to("On the bench", bench_of("flow"))
    way_to("The experiment", experiment_of("explanation"))
    code(arriving, cut_run)


def _show(view: OneHead) -> None:
    shown = show_word_forms(view.trace, view.query, "lesson-forms", here=_HERE)
    meaning(meanings.through_layers(shown.now, shown.watched))
