"""The toy of two sentences on screen: the sentences, and the two heads that were written by hand for them."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.charts.base.axes import Axis
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.course.words import number_of, quoted
from lab.figures.trace_axes import KEY, QUERY, WEIGHT
from lab.models.interventions import Interventions
from lab.models.trace import Trace, changed
from lab.questions.toy_questions import pair_checks
from lab.toy.data import as_text
from lab.toy.letter_pairs import PAIR_RULES, WITHIN, even_share, own_share
from lab.toy.models import number_run
from lab.ui import runs, selection
from lab.ui.drawing import draw
from lab.ui.page import LessonPage
from lab.ui.parameters import TOY_LENGTH, TOY_OTHER, TOY_VOCABULARY
from lab.ui.quiz.step_questions import predict
from lab.ui.screen import meaning
from lab.ui.toys import toy_runs
from lab.ui.toys.toy_controls import ToySteps, show_toy_data


def pair_trace(page: LessonPage) -> Trace:
    """Run the two chosen sentences of letters through the toy written for pairs; says which toy it is."""
    st.info(
        "A toy: two sentences of made-up words, one letter each, and two heads written by hand. One of these heads "
        "looks from sentence to sentence.",
        icon=":material/construction:",
    )
    return _trace(page)


def _trace(page: LessonPage) -> Trace:
    chosen = page.selection
    every = toy_runs.sentences(chosen).sentences
    if chosen[TOY_OTHER] > len(every):
        selection.note(f"The toy has {number_of(len(every), 'sentence')}, so the second one is the last.")
    second = every[min(chosen[TOY_OTHER], len(every)) - 1]
    toy = runs.pair_toy(chosen[TOY_VOCABULARY], chosen[TOY_LENGTH])
    return number_run(toy, as_text(toy_runs.sentence(chosen)), as_text(second))


def _show_data(page: LessonPage) -> None:
    trace = _trace(page)
    st.markdown(
        f"The model reads two sentences as a pair: first {quoted(trace.text)}, then {quoted(trace.pair or '')}. Choose "
        "others in the sidebar."
    )
    show_toy_data(page)


def map_of_head(traced: Trace, head: int, what: str) -> Heatmap:
    """Draw the map of one of the toy's heads; ``what`` it shows is in the title."""
    axes = Axis(QUERY, traced.labels), Axis(KEY, traced.labels)
    return heatmap(traced.layer(0).attention[head].numpy(), axes, WEIGHT, title=f"Head {head + 1}, {what}")


def _show_heads(page: LessonPage) -> None:
    """Ask what a head must compare in order to look across the two sentences, then show both maps and their rules."""
    trace = _trace(page)
    question = pair_checks(trace.text.split(), (trace.pair or "").split())[0]
    if not predict("toy", question):
        return
    for head, (column, what) in enumerate(zip(st.columns(2), ("across", "within"), strict=True)):
        with column:
            draw(partial(map_of_head, trace, head, what), f"pair-map-{head + 1}")
    rules = "\n".join(f"- Head {number} was written to {rule}." for number, rule in enumerate(PAIR_RULES, start=1))
    st.markdown(
        f"{rules}\n\nThe first sentence is between [CLS] and the first [SEP], the second one before the last [SEP]. No "
        "head looks at positions: the queries ask only for letters and segments."
    )


def _show_without_segments(page: LessonPage) -> None:
    """Show the head that stays in its own sentence, with and without segment vectors."""
    trace = _trace(page)
    without = changed(trace, Interventions(no_segments=True))
    for column, (run, what) in zip(st.columns(2), ((trace, "with segments"), (without, "without")), strict=True):
        with column:
            draw(partial(map_of_head, run, WITHIN, what), f"pair-segments-{what}")
    before, after, even = (100 * share for share in (own_share(trace), own_share(without), even_share(trace)))
    meaning(
        f"With segments, {before:.0f} % of a letter’s attention to letters goes to its own sentence; without them "
        f"{after:.0f} % does, and an even spread would send {even:.0f} % there. Only the segment vector tells this "
        "head which sentence a letter is in."
    )
    st.markdown(
        "Vig calls this pattern *attention to other words in the same sentence*. The small models of this lab have no "
        "head that does this clearly, so we wrote this one by hand."
    )


# The first steps of a lesson whose toy reads two sentences.
PAIR_STEPS: ToySteps = {
    "Toy data": _show_data,
    "Both heads": _show_heads,
    "Without segments": _show_without_segments,
}
