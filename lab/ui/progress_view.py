"""The learner's progress on the screen: badges, a review of missed checks, the file that stores the progress."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from lab.course.pages import CHECK_STEP, Lesson, lesson_of, number
from lab.course.words import escaped
from lab.questions.progress import Answer
from lab.ui import chosen_tokens, parameters, runs, selection
from lab.ui.quiz.keeping import offer_file, start_afresh
from lab.ui.quiz.question_on_screen import about, progress


def checks_badge(lesson: Lesson) -> None:
    """Show how many of a lesson's checks are answered, once a check is answered; show nothing to a class."""
    count = progress().count(lesson)
    if count.answered and not parameters.TEACH.chosen():
        right = f"{count.right} right at the first try"
        st.badge(f"{count.answered} of {count.asked} checks", icon=":material/check:", color="gray", help=right)


def progress_badge(lesson: Lesson) -> None:
    """Show how many of a lesson's steps are done and, once one is answered, how many checks are answered."""
    count = progress().count(lesson)
    checks = f", {count.answered} of {count.asked} checks" * bool(count.answered and not parameters.TEACH.chosen())
    if count.done or checks:
        st.badge(f"{count.done} of {count.steps} steps{checks}", icon=":material/steps:", color="gray")


def review() -> None:
    """Draw the checks that were missed at first try, each with its answer and a link back to its sentence."""
    missed = [] if parameters.TEACH.chosen() else progress().missed()
    # The container is drawn even when empty: if an open expander below it moved, the expander would close.
    with st.container():
        if missed:
            st.header("Missed at first try")
        for index, (lesson, answer) in enumerate(missed):
            _missed(lesson_of(lesson), answer, index)


def _missed(lesson: Lesson, answer: Answer, index: int) -> None:
    """Draw one missed check. All its texts are escaped, because they may come from an uploaded file."""
    with st.container(border=True):
        st.markdown(f"**{number(lesson)} · {lesson.title}.** {escaped(answer.question)}")
        st.markdown(
            f":material/close: You answered **{escaped(answer.chosen)}**. {escaped(answer.why_chosen)}\n\n"
            f":material/check: The right answer is **{escaped(answer.right)}**. {escaped(answer.why_right)}"
        )
        if answer.link is None:
            st.caption("The sentence was too long to store.")
            return
        if answer.link:  # a written question is about no sentence of the learner
            st.caption(about(answer.link))
        label, icon = f"Back to this question in lesson {number(lesson)}", ":material/arrow_forward:"
        if st.button(label, key=f"_missed.{index}", icon=icon, type="tertiary", on_click=_take, args=(answer.link,)):
            selection.open_page(lesson, CHECK_STEP)


def _take(link: Mapping[str, str]) -> None:
    """Select the sentence and the place that the check was about."""
    if link:
        selection.take(link, runs.model_ids())
        chosen_tokens.forget()


def keep() -> None:
    """Draw the buttons to erase this browser's progress, and the file for another computer."""
    with st.expander("Your progress", icon=":material/save:"):
        st.markdown(
            "This browser keeps your answers and the steps that you have done, for you alone: the server forgets them "
            "when you leave. On a computer that you share, click Start afresh when you are done."
        )
        st.button(
            "Start afresh on this computer", icon=":material/restart_alt:", key="_start_afresh", on_click=start_afresh
        )
        st.markdown("You can take your progress to another computer in a file.")
        data, name, mime = progress().to_json(), "inside-bert-progress.json", "application/json"
        st.download_button("Download progress", data, name, mime, icon=":material/download:", on_click="ignore")
        offer_file()
