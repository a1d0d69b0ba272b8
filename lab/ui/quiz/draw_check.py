"""The end of a lesson: checks (the first try counts), a challenge, and what was answered wrong two lessons before.

A challenge has no score, and it can be tried again and again. A question that is asked again after a while is
remembered (Roediger & Karpicke 2006, "Test-enhanced learning").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from lab.models.encoding import TextError
from lab.questions.asking import Asking, Spot
from lab.questions.progress import TOY, LearnerProgress, answer_to
from lab.questions.question import Question, hashed, lettered, selected
from lab.ui import parameters, selection
from lab.ui.drawing import draw
from lab.ui.parameter_kinds import say_shortened, shorten
from lab.ui.quiz.done import awaits_answer, did
from lab.ui.quiz.files import offer_files
from lab.ui.quiz.question_on_screen import OnScreen, choose, explain_each, list_options, progress, remember
from lab.ui.room.ask_class import offer, reveal
from lab.ui.screen import say

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


LONGEST = 200  # characters of an entry


@dataclass(frozen=True)
class ChallengeVerdict:
    """Whether an entry shows what was wanted, and a sentence (Markdown) that says what the lab saw."""

    met: bool
    said: str


def draw_challenge(lesson: str, wanted: str, placeholder: str, judge: Callable[[str], ChallengeVerdict]) -> None:
    """Draw a challenge, with a field for one line, and what the lab saw in the learner's last entry.

    Challenges are about the course's model and for a learner alone: with toys and before a class, none is drawn.

    ``judge`` looks at an entry, which is never empty; it may raise :class:`lab.models.encoding.TextError` for a text
    that the model cannot read.
    """
    if parameters.MODE.chosen() == parameters.TOY or parameters.TEACH.chosen():
        return
    key = f"_challenge.{lesson}"
    with st.container(border=True):
        say(f":material/flag: **Challenge.** {wanted}")
        st.text_input(
            "Your answer", key=key, placeholder=placeholder, label_visibility="collapsed", persist_state="session",
            on_change=shorten, args=(key, LONGEST),
        )  # fmt: skip
        say_shortened(key, LONGEST)
        entry = str(st.session_state.get(key) or "").strip()
        if not entry:
            return
        try:
            found = judge(entry)
        except TextError as reason:
            found = ChallengeVerdict(met=False, said=str(reason))
        if found.met:
            did(lesson)
            st.success(found.said, icon=":material/check:")
        else:
            st.info(found.said, icon=":material/search:")


MOST = 2  # questions at the end of a lesson


def missed(known: LearnerProgress, earlier: Iterable[Question], lesson: str) -> list[Question]:
    """Return the questions of ``earlier`` lessons that were answered wrong, and that no other lesson has asked again.

    An answer in a step is the last one, an answer in a check the first one.
    """
    steps: dict[str, int | None] = {}
    for options in known.predictions.values():
        steps |= options

    def wrong(question: Question) -> bool:
        answer = known.checks.get((question.lesson, question.id))
        if answer is not None:
            return not answer.correct
        kept = steps.get(question.key)
        return kept is not None and question.on_screen(kept) != question.answer

    again = {name: of for of, name in known.checks if of != lesson}
    return [each for each in earlier if wrong(each) and f"{each.lesson}.{each.id}" not in again]


def bring_back(lesson: str, earlier: Iterable[Question]) -> None:
    """Ask again what was answered wrong in ``earlier`` lessons: nothing about a toy, nor of a class."""
    if parameters.TEACH.chosen() or parameters.MODE.chosen() == parameters.TOY:
        return
    questions = selected(missed(progress(), earlier, lesson), MOST)
    if questions:
        st.subheader("Once more")
        st.caption("You answered this wrong in an earlier lesson.")
        for number, question in enumerate(questions, start=1):
            with st.container(border=True):
                ask_one(lesson, number, question, f"{lesson}.earlier")
