"""Checks after an answer: questions about the figures that were seen; the first try counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from lab.questions.asking import Asking
from lab.questions.progress import TOY, answer_to
from lab.questions.question import Question, hashed, lettered, selected
from lab.questions.spot import Spot
from lab.ui import parameters, selection
from lab.ui.drawing import draw
from lab.ui.quiz.done import awaits_answer, did
from lab.ui.quiz.files import offer_files
from lab.ui.quiz.on_screen import OnScreen
from lab.ui.quiz.question_on_screen import choose, explain_each, list_options, progress, remember
from lab.ui.room.ask_class import offer, reveal

Questions = Sequence[Question | None]


@dataclass(frozen=True)
class OfClass:
    """Questions about a run, ``askings``, that a class is asked about ``spot``; ``of`` names its layer and head."""

    askings: tuple[Asking, ...]
    spot: Spot
    of: str

    def with_(self, written: Questions) -> OnScreen:
        """The questions that the run decides clearly, with their figures, and then the ``written`` ones."""
        asked = [(each.figure, question) for each in self.askings if (question := each(self.spot)) is not None]
        figures = {question.id: figure(self.spot) for figure, question in asked if figure is not None}
        return OnScreen((*(question for _, question in asked), *_clear(written)), figures, self.of)


def _clear(questions: Questions) -> tuple[Question, ...]:
    return tuple(each for each in questions if each is not None)


def draw_checks(lesson: str, questions: Questions, of_class: OfClass | None = None) -> None:
    """Ask the questions at the end of a lesson; the first try counts.

    A wrong answer gets a hint, a second wrong answer the explanation. While a class is taught, nothing is kept or
    counted, a button reveals each answer, and the questions ``of_class`` come, too, with their figures.
    """
    teaches = parameters.TEACH.chosen()
    kept = of_class.with_(questions) if teaches and of_class else OnScreen(_clear(questions))
    of_lesson = [replace(question, lesson=lesson) for question in kept.questions]
    kept = replace(kept, questions=tuple(selected(of_lesson, len(of_lesson), parameters.SEED.chosen())))
    st.header("Check yourself")
    if not kept.questions:
        st.markdown("None of the questions has a clear answer for this sentence. Try a longer one.")
    elif teaches:
        for number, question in enumerate(kept.questions, start=1):
            with _box(lesson, kept, question):
                _show(lesson, number, question, kept)
        offer_files(lesson, kept)
    else:
        awaits_answer()
        for number, question in enumerate(kept.questions, start=1):
            with st.container(border=True):
                ask_one(lesson, number, question, lesson, tuple(each.key for each in kept.questions))


def _box(lesson: str, kept: OnScreen, question: Question) -> AbstractContextManager[object]:
    """Draw the frame of one check; a figure is drawn below the check, because twelve maps need the whole width."""
    frame = st.container(border=True)
    if question.id not in kept.figures:
        return frame
    with frame:
        asked = st.container()
        draw(kept.figures[question.id], f"check.{lesson}.{question.id}")
    return asked


def _show(lesson: str, number: int, question: Question, kept: OnScreen) -> None:
    """Draw a check for a class: its options, and a button that reveals the right option."""
    st.markdown(f"**{number}.** {question.prompt}")
    name = f"_show.{lesson}.{question.id}.{hashed(*selection.what_runs(selection.current()))}.{question.key}"
    if not st.session_state.get(name):
        list_options(question)
        with st.container(horizontal=True):
            st.button(reveal(), key=f"{name}.reveal", on_click=_uncover, args=(name, True))
            offer(lesson, question, name, kept.figures.get(question.id), kept.of)
        return
    st.success(
        f"{lettered(question, question.answer)}. {question.options[question.answer].why}", icon=":material/check:"
    )
    explain_each(question)
    st.button(
        "Hide again", key=f"{name}.hide", type="tertiary", icon=":material/undo:", on_click=_uncover, args=(name, False)
    )


def _uncover(name: str, shown: bool) -> None:
    st.session_state[name] = shown


def ask_one(lesson: str, number: int, question: Question, name: str, of: tuple[str, ...] = ()) -> None:
    """Draw a check of the list ``name``: its options, the feedback to the answers, and its hint or explanation.

    The step is done when all checks that ``of`` names by their keys are answered.
    """
    st.markdown(f"**{number}.** {question.prompt}")
    key = f"_check.{name}.{question.id}.{question.key}"
    remember(progress().asked(lesson, counted_as(lesson, question)))
    tries = _tries(name, question)
    if tries and st.session_state.get(key) is None:
        st.session_state[key] = tries[-1]  # the answer was restored from the browser's storage
    answer = partial(_answer, key, lesson, question, name, of, {} if question.always else selection.link())
    choice = choose(question, key=key, persist_state="session", on_change=answer)
    if choice is None:
        return
    option, tries = question.options[choice], tries or (choice,)
    hint = question.hint_after_wrong if len(tries) == 1 and not option.correct else ""
    if hint:
        st.warning(
            f"That is not right. {hint} Try once more; then you see the explanation.", icon=":material/lightbulb:"
        )
        return
    if option.correct:
        again = "Right at the second try. " if choice in tries[1:2] else ""
        st.success(f"{again}{option.why}", icon=":material/check:")
    else:
        right = question.options[question.answer]
        why = "" if right.why == option.why else f" {right.why}"
        st.error(f"{option.why} Right is {lettered(question, question.answer)}.{why}", icon=":material/close:")
    with st.expander("Why each option is right or wrong"):
        explain_each(question)


def counted_as(lesson: str, question: Question) -> str:
    """Return the name of a check in the progress of a lesson; a question that returns has its lesson's name before."""
    name = question.id if question.lesson == lesson else f"{question.lesson}.{question.id}"
    return f"{TOY}{name}" if parameters.MODE.chosen() == parameters.TOY and not question.always else name


def _tries(name: str, question: Question) -> tuple[int, ...]:
    """Return the options of a question that were tried, each once, in their order."""
    tried = progress().tries.get(name, {}).get(question.key, ())
    return tuple(place for each in tried if (place := question.on_screen(each)) is not None)


def _answer(key: str, lesson: str, question: Question, name: str, of: tuple[str, ...], link: Mapping[str, str]) -> None:
    """Note the answer before the page is drawn again, so that the header already counts it."""
    choice = st.session_state.get(key)
    if isinstance(choice, int):
        now = progress().answered(lesson, counted_as(lesson, question), answer_to(question, choice, link))
        remember(now.tried(name, question.key, question.kept_as(choice)))
        if of and progress().tries[name].keys() >= set(of):
            did(lesson)
