"""Checks after an answer: questions about the figures that were seen; the first try counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from lab.course.words import stopped
from lab.questions.asking import Asking
from lab.questions.progress import TOY, CheckList, answer_to
from lab.questions.question import Question, hashed, lettered, selected
from lab.questions.spot import Spot
from lab.ui import parameters, selection
from lab.ui.drawing import draw
from lab.ui.quiz.done import awaits_answer, did
from lab.ui.quiz.files import offer_files
from lab.ui.quiz.on_screen import Figures, OnScreen, about
from lab.ui.quiz.question_on_screen import choose, explain_each, list_options, progress, remember
from lab.ui.room.ask_class import offer, reveal

Questions = Sequence[Question | None]
MOST = 3  # questions at the end of a lesson


@dataclass(frozen=True)
class OfClass:
    """Questions about a run, ``askings``, that a class is asked about ``spot``; ``of`` names its layer and head."""

    askings: tuple[Asking, ...]
    spot: Spot
    of: str

    def questions(self) -> list[Question]:
        """The questions that the run decides clearly."""
        return [asked for each in self.askings if (asked := each(self.spot)) is not None]

    def figures(self) -> Figures:
        """What draws the figure of a question, by the question's id."""
        asked = ((each, each(self.spot)) for each in self.askings if each.figure is not None)
        return {found.id: partial(each.figure, self.spot) for each, found in asked if found is not None and each.figure}


def draw_checks(lesson: str, questions: Questions, of_class: OfClass | None = None) -> None:
    """Ask the questions at the end of a lesson; the first try counts.

    A wrong answer gets a hint, a second wrong answer the explanation. Of a toy's questions, three are asked; they stay
    until the learner asks for new ones. While a class is taught, nothing is kept or counted, a button reveals each
    answer, and the questions ``of_class`` come, too, with their figures.
    """
    seed, teaches = parameters.SEED.chosen(), parameters.TEACH.chosen()
    more = of_class if teaches else None
    found = [*([] if more is None else more.questions()), *(each for each in questions if each is not None)]
    pool = [replace(question, lesson=lesson) for question in found]
    most, of = len(pool) if teaches else MOST, "" if more is None else more.of
    figures: Figures = {} if more is None else more.figures()

    def drawn(before: OnScreen | None = None) -> OnScreen:
        return OnScreen.now(pool, most, seed, of, figures, before)

    st.header("Check yourself")
    if teaches:
        kept = drawn()
        for number, question in enumerate(kept.questions, start=1):
            with _box(lesson, kept, question):
                _show(lesson, number, question, kept)
        offer_files(lesson, kept)
    else:
        name = list_of(lesson, about_run=not all(each.always for each in pool))
        before = stored(name) or _brought_back(name, partial(OnScreen.again, pool, seed, of, figures))
        before = before if before is not None and before.seed == seed else None
        kept = drawn(before) if before is None or before.done else before
        keep(name, kept)
        if kept.questions:
            awaits_answer()
        for number, question in enumerate(kept.questions, start=1):
            with _box(lesson, kept, question):
                ask_one(lesson, number, question, kept, name)
        fresh = any(each.key not in kept.listed.asked for each in selected(pool, len(pool), seed))
        _offer_new(name, kept, fresh)
    if not kept.questions:
        st.markdown("None of the questions has a clear answer for this sentence. Try a longer one.")


def list_of(lesson: str, *, about_run: bool) -> str:
    """The name under which a lesson's checks are kept; checks about the run of a toy have a name of their own."""
    return f"{lesson}.toy" if about_run and parameters.MODE.chosen() == parameters.TOY else lesson


def stored(name: str) -> OnScreen | None:
    """Return the questions that this session asked under ``name``.

    Returns None if there are none, or if new questions are due.
    """
    kept, shown = st.session_state.get(f"_asked.{name}"), progress().shown.get(name)
    return kept if isinstance(kept, OnScreen) and shown is not None and kept.listed.asked == shown.asked else None


def _brought_back(name: str, again: Callable[[CheckList], OnScreen | None]) -> OnScreen | None:
    """Return the questions on screen before a reload; ``again`` returns them if it can ask them again, else None."""
    shown = progress().shown.get(name)
    return None if shown is None else again(shown)


def keep(name: str, asked: OnScreen) -> None:
    """Keep these questions on screen; an empty list is not kept, so that another sentence can still get questions."""
    st.session_state[f"_asked.{name}"] = asked if asked.questions else None
    known = progress().shown.get(name)
    now = asked.listed
    if asked.questions and (known is None or (known.asked, known.number) != (now.asked, now.number)):
        remember(progress().showing(name, replace(now, tries={})))


def ask_about(lesson: str, link: Mapping[str, str]) -> None:
    """Ask the checks of a lesson about the selection that ``link`` names, unless they are about it already."""
    name = list_of(lesson, about_run=True)
    kept = stored(name)
    if kept is not None and dict(kept.link) != dict(link):
        _ask_new(name)


def _ask_new(name: str) -> None:
    """Ask other questions of a list next time."""
    if (kept := stored(name)) is not None:
        st.session_state[f"_asked.{name}"] = replace(kept, done=True)


def _offer_new(name: str, kept: OnScreen, fresh: bool) -> None:
    """Say what the questions are about; if there are more questions, draw the button for new questions."""
    if all(each.always for each in kept.questions):
        return  # they are about no sentence, and there are no others
    changed = (
        "" if selection.what_runs(selection.current()) == kept.run else " You have changed the sentence or the model."
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{stopped(about(kept.link, kept.of))}{changed}", width="content")
        if fresh or changed:
            label, icon, key = "New questions", ":material/refresh:", f"_new.{name}"
            st.button(label, key=key, icon=icon, on_click=_ask_new, args=(name,))


def _box(lesson: str, kept: OnScreen, question: Question) -> AbstractContextManager[object]:
    """Draw the frame of one check; a figure is drawn below the check, because twelve maps need the whole width."""
    frame = st.container(border=True)
    if question.id not in kept.figures:
        return frame
    with frame:
        asked = st.container()
        draw(kept.figures[question.id], f"check.{lesson}.{kept.listed.number}.{question.id}")
    return asked


def _show(lesson: str, number: int, question: Question, kept: OnScreen) -> None:
    """Draw a check for a class: its options, and a button that reveals the right option."""
    st.markdown(f"**{number}.** {question.prompt}")
    name = f"_show.{lesson}.{question.id}.{hashed(*selection.what_runs(selection.current()))}.{question.key}"
    if not st.session_state.get(name):
        list_options(question)
        with st.container(horizontal=True):
            st.button(reveal(), key=f"{name}.reveal", on_click=_uncover, args=(name, True))
            offer(lesson, question, name, kept.link, kept.of, kept.figures.get(question.id))
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


def ask_one(lesson: str, number: int, question: Question, kept: OnScreen, name: str, keys: str = "_check") -> None:
    """Draw a check of the list ``name``: its options, the feedback to the answers, and its hint or explanation.

    The keys of the check's widgets begin with ``keys``.
    """
    st.markdown(f"**{number}.** {question.prompt}")
    key = f"{keys}.{name}.{kept.listed.number}.{question.id}.{question.key}"
    remember(progress().asked(lesson, counted_as(lesson, question)))
    tries = _tries(name, question)
    if tries and st.session_state.get(key) is None:
        st.session_state[key] = tries[-1]  # the answer was restored from the browser's storage
    answer = partial(_answer, key, name, lesson, question, kept.link)
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
    shown = progress().shown.get(name)
    tried = () if shown is None else shown.tries.get(question.key, ())
    return tuple(place for each in tried if (place := question.on_screen(each)) is not None)


def _answer(key: str, name: str, lesson: str, question: Question, link: Mapping[str, str]) -> None:
    """Note the answer before the page is drawn again, so that the header already counts it."""
    choice, shown = st.session_state.get(key), progress().shown.get(name)
    if isinstance(choice, int) and shown is not None:
        about = {} if question.always else link
        now = progress().answered(lesson, counted_as(lesson, question), answer_to(question, choice, about))
        remember(now.showing(name, shown.tried(question.key, question.kept_as(choice))))
        if name == lesson and progress().shown[name].tries.keys() >= set(shown.asked):
            did(lesson)
