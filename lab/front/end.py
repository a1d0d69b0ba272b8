"""The end of the course: its story in pictures, what the learner has done and found, a page to print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

import streamlit as st

from lab.course.pages import LESSONS, Lesson, bench_of, experiment_of, number, page_of, page_path
from lab.course.ways import NAMES, SHORT, WHOLE, way
from lab.front.first_minute import asked, filling_model
from lab.front.story_pictures import show_story
from lab.models.encoding import TextError
from lab.questions.progress import LearnerProgress
from lab.ui import address, selection, shell
from lab.ui.frame.look import EMBEDDED, HOW_TO_PRINT, ON_PAPER, SHEET
from lab.ui.frame.way_buttons import is_done, next_on, open_stage
from lab.ui.parameters import BLANK_TEXT, MODEL, WAY
from lab.ui.quiz.question_on_screen import progress
from lab.ui.shared.machine import STOP_OF, MachineSetting, show_machine

_DONE = "A step is done if you answered its question, used its figure, or went on from it with Next."
_SHEET = "sheet"  # names the page to print, in an address and in the session


def show() -> None:
    """Draw the page."""
    shell.route()
    sheet = _is_sheet()
    st.html(f"<style>{ON_PAPER}{SHEET if sheet else ''}</style>")
    st.title(page_of("end").title, anchor=False)
    show_story(links=not sheet)
    lessons = _lessons_of_the_way()
    begun = [lesson for lesson in lessons if _is_begun(lesson)]
    st.header("What you have done", anchor=False)
    _what_you_can_do(lessons, begun)
    _machine(begun)
    if sheet:
        return
    _ways_on()
    with st.container(key="not_on_paper"):
        link = urlencode({**selection.link(), **EMBEDDED, _SHEET: "1"})
        st.link_button("A page to print", f"?{link}", icon=":material/print:")
        st.caption(HOW_TO_PRINT)


def _is_sheet() -> bool:
    """Return whether this tab shows the page to print, without menus; the address says so when the tab opens."""
    if _SHEET in address.written():
        st.session_state[_SHEET] = True
    return bool(st.session_state.get(_SHEET))


def _lessons_of_the_way() -> Sequence[Lesson]:
    if WAY.chosen() != SHORT:
        return LESSONS
    ids = {stage.lesson.id for stage in way(SHORT)}
    return tuple(lesson for lesson in LESSONS if lesson.id in ids)


def _is_begun(lesson: Lesson) -> bool:
    count = progress().count(lesson)
    return bool(count.done or count.answered)


def _what_you_can_do(lessons: Sequence[Lesson], begun: Sequence[Lesson]) -> None:
    """List what was done, as far as it was done, and lead to what is not done yet."""
    if begun:
        told = "\n".join(f"- {each}" for each in can(WAY.chosen(), progress()))
        st.markdown(f"You have done the steps that teach you to …\n{told}")
        st.caption(_DONE)
    else:
        st.markdown("You have not done any step in this browser yet. This page fills as you go through the lessons.")
    left, stage = [lesson for lesson in lessons if lesson not in begun], next_on(WAY.chosen())
    if left and begun:
        names = ", ".join(lesson.title for lesson in left)
        st.markdown(f"In these lessons, you have not answered or tried anything yet: {names}.")
    if stage is None:
        st.markdown(f"You have done every step of this way: {NAMES[WAY.chosen()]}.")
    elif st.button(
        f"Go on: {stage.step.name} (lesson {number(stage.lesson)})", type="primary", icon=":material/arrow_forward:"
    ):
        open_stage(stage)


def can(name: str, progress: LearnerProgress) -> list[str]:
    """What a learner can do: of the short way, by its steps; of the whole course, by its lessons that are finished.

    Of a lesson that is not finished, too, there are the steps of the short way.
    """
    told = []
    for lesson in LESSONS:
        stages = [stage for stage in way(name) if stage.lesson.id == lesson.id]
        done = [stage.step for stage in stages if progress.has_done(lesson, stage.step)]
        if name == WHOLE and len(done) == len(stages):
            told.append(f"**{lesson.objectives[0]}**")
        else:
            told += [f"**{step.can}**" for step in done if step.can]
    return told


def _machine(begun: Sequence[Lesson]) -> None:
    """Draw the whole model with what was found at each part, on the sentence of the first page."""
    model = filling_model(MODEL.chosen())
    try:
        now = asked(model, BLANK_TEXT.chosen())
    except TextError:
        now = None
    if now is None:
        return
    title, found_there = "The machine, and your findings", "what you found there"
    if WAY.chosen() == SHORT:
        title, found_there = "The machine, and your steps", "which steps were about it"
    st.header(title, anchor=False)
    st.markdown(f"Click the name of a part to read what it does, and {found_there}.")
    st.fragment(show_machine)(now.trace, "machine", MachineSetting(watched=now.place, found=found(WAY.chosen(), begun)))


def found(name: str, lessons: Sequence[Lesson]) -> Mapping[str, Sequence[str]]:
    """By the part of the machine: of the whole course, the sentence to remember of each of these lessons.

    Of the short way, the names of its steps.
    """
    told = {lesson.id: [f"Lesson {number(lesson)}: {lesson.story.remember}"] for lesson in lessons}
    if name == SHORT:
        done = [stage for stage in way(SHORT) if is_done(stage)]
        told = {
            each.id: [f"The step {stage.step.name}" for stage in done if stage.lesson.id == each.id] for each in lessons
        }
    return {
        part: [each for lesson in lessons if lesson.stop == stop for each in told[lesson.id]]
        for part, stop in STOP_OF.items()
    }


def _ways_on() -> None:
    st.header("Where to go on", anchor=False)
    if WAY.chosen() == SHORT:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                "The whole course also has the steps in between, from the first id to a finished model:",
                width="content",
            )
            if st.button(NAMES[WHOLE], key="_whole_course", icon=":material/map:"):
                WAY.set(WHOLE)
                open_stage(next_on(WHOLE))
    compare, tensors, needed = bench_of("compare"), bench_of("tensors"), experiment_of("needed-heads")
    for page, why in (
        (compare, "See two sentences of your own side by side, figure by figure."),
        (needed, "See a published claim tested on this model."),
        (tensors, "Find every number that you saw, with the lines of Python that compute it."),
    ):
        st.page_link(page_path(page.page), label=f"**{page.title}.** {why}", icon=page.icon)
