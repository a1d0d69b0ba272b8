"""The two ways through the course on a page: the dots of the short way, and the buttons that lead on."""

from __future__ import annotations

from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab.course.pages import page_of
from lab.course.ways import NAMES, SHORT, WHOLE, WayStage, neighbours, way
from lab.ui import selection, teaching
from lab.ui.parameters import MODE, SENTENCE, WAY
from lab.ui.quiz.done import went_on
from lab.ui.quiz.question_on_screen import progress


def next_on(name: str) -> WayStage | None:
    """The first stage of a way that is not done; None if all are."""
    return next((stage for stage in way(name) if not is_done(stage)), None)


def is_done(stage: WayStage) -> bool:
    """Return whether a stage is done."""
    return progress().has_done(stage.lesson, stage.step)


def draw_dots(place: DeltaGenerator, lesson: str, step: str) -> None:
    """Draw the short way as a row of dots: the steps that are done, the step on screen, and the steps ahead."""
    stages, here = way(SHORT), (lesson, step)
    at = next((i for i, stage in enumerate(stages, start=1) if stage.key == here), None)
    where = "a step beside the way" if at is None else f"{at} of {len(stages)}"
    dots = "".join(f'<i class="{_state(stage, here)}" title="{escape(stage.step.name)}"></i>' for stage in stages)
    row = f'<p class="short-way">{NAMES[SHORT]}: {where} <span aria-hidden="true">{dots}</span></p>'
    with place.container(key="short_way", horizontal=True, vertical_alignment="center", gap="small"):
        st.html(row, width="content")
        st.button("Leave for the whole course", key="_whole_way", type="tertiary", on_click=WAY.set, args=(WHOLE,))


def _state(stage: WayStage, here: tuple[str, str]) -> str:
    return "here" if stage.key == here else "done" if is_done(stage) else ""


def draw_way_on(lesson: str, step: str) -> None:
    """Draw the buttons to the steps of the short way before and after this one, or to the end."""
    before, after = neighbours(SHORT, lesson, step)
    back, forward = teaching.keys()
    with st.container(horizontal=True):
        # The keys name the step: the click that led to this step would otherwise count for these buttons, too.
        if before is not None:
            label, icon, key = f"Previous: {before.step.name}", ":material/arrow_back:", f"_short_back.{step}"
            if st.button(label, key=key, icon=icon, type="tertiary", shortcut=back):
                open_stage(before)
        label = f"Next: {page_of('end').title if after is None else after.step.name}"
        icon, key = ":material/arrow_forward:", f"_short_next.{step}"
        if st.button(label, key=key, icon=icon, type="primary", shortcut=forward):
            went_on(lesson)
            open_stage(after)


def open_stage(stage: WayStage | None) -> None:
    """Go to a step of a way, or to the end. A way leads through sentences, so it leaves a toy."""
    if MODE.chosen() != SENTENCE:
        MODE.set(SENTENCE)
    if stage is None:
        selection.open_page(page_of("end"))
    else:
        selection.open_page(stage.lesson, stage.step.name)
