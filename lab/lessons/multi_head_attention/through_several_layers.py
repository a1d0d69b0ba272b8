"""Through several layers: the picture of a token to which other tokens bring vectors, and of a cut."""

from __future__ import annotations

import numpy as np
import streamlit as st

from lab.analysis.flow.arriving import arriving
from lab.analysis.flow.cuts import cut_run
from lab.course.pages import bench_of, experiment_of
from lab.course.words import named, percent
from lab.lessons.multi_head_attention import LESSON
from lab.models.trace import Trace
from lab.ui.drawing import code
from lab.ui.screen import meaning, say, way_to
from lab.ui.shared.one_head import OneHead
from lab.ui.shared.word_forms import show_word_forms


def show(view: OneHead) -> None:
    """Show the picture of all layers at the chosen token."""
    say(
        "Each layer reads what the layer before it wrote. So a token can look at a token that has already collected "
        "from others, and information can travel in several steps. Each line is a token, and each column is a layer. "
        f"A wide link brings a long vector to {view.token(view.query)}. If the links of a layer are weak, attention "
        "adds little to the token’s own vector there."
    )
    st.fragment(_show)(view)
    way_to("On the bench", bench_of("flow"))
    way_to("The experiment", experiment_of("explanation"))
    code(arriving, cut_run)


def _show(view: OneHead) -> None:
    shown = show_word_forms(view.trace, view.query, "lesson-forms", here=LESSON)
    meaning(said(shown.now, shown.watched))


def said(trace: Trace, token: int) -> str:
    """Say from which other word most attention arrives at ``token``, and in which layer."""
    row = arriving(trace, token).row.copy()
    no_words = [place for place, label in enumerate(trace.labels) if not any(map(str.isalnum, label))]
    special = [place for place, is_special in enumerate(trace.encoding.special) if is_special]
    row[:, [*no_words, *special, token]] = 0
    layer, source = (int(each) for each in np.unravel_index(int(row.argmax()), row.shape))
    if row[layer, source] <= 0:
        return f"No other word adds anything to {named(trace, token)}. Write a longer sentence."
    said = (
        f"Of all words, {named(trace, source)} brings most to {named(trace, token)}: in layer {layer + 1}, its vector "
        f"has {percent(float(row[layer, source]))} of the lengths, added up, of the vectors that attention adds to "
        "this token."
    )
    if layer == 0:
        return f"{said} The picture shows which vectors arrive. To see which vectors matter, you must take some away."
    layers = "layer 1" if layer == 1 else f"layers 1 to {layer}"
    return f"{said} By then, that token has already collected from other tokens, in {layers}."
