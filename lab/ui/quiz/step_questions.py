"""Questions in a step: predictions before its figure, and questions about what it has just shown."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab.questions.progress import TOY
from lab.questions.question import Question, hashed, lettered, reordered
from lab.ui import parameters, selection
from lab.ui.drawing import seen
from lab.ui.quiz.done import awaits_answer, did, step_on_screen
from lab.ui.quiz.question_on_screen import COMMIT, choose, list_options, progress, remember
from lab.ui.room.ask_class import offer, reveal

_PLACE = "_question_place"


@dataclass
class _Revealed:
    """The questions whose answers a class was shown, by their keys, for each run (sentence and model).

    Within a run, the key of a question changes with the head or the token on screen.
    """

    keys: dict[str, set[str]] = field(default_factory=dict)

    def reveal(self, run: str, asked: str) -> None:
        """Show the answer."""
        self.keys.setdefault(run, set()).add(asked)

    def hide(self, run: str, asked: str) -> None:
        """Ask again."""
        self.keys.pop(run, None)
        for each in self.keys.values():
            each.discard(asked)


def predict(lesson: str, question: Question | None, *, in_sight: bool = False) -> bool:
    """Ask the question before the figure is shown; return True if it was answered or skipped, or if there is none.

    A figure is hidden only before a learner's first prediction in a step, unless it was ``in_sight`` already because
    there was no question at first. With another head, sentence or model, the figure stays, and the question is offered
    beside the figure. A class answers aloud, and a button reveals the answer, once for each sentence and model; the
    question is at the top of the step.
    """
    chosen = selection.current()
    if question is None:
        if not chosen[parameters.TEACH]:
            remember(progress().saw(_step(lesson)))
        return True
    question = reordered(replace(question, lesson=lesson), chosen[parameters.SEED])
    if not chosen[parameters.TEACH]:
        shown = _predicted(lesson, question, in_sight)
        if not shown:
            awaits_answer()
        return shown
    with _place():
        return _shown_to_class(lesson, question, hashed(*selection.what_runs(chosen)), "_predict")


def ask_beside(lesson: str, question: Question | None) -> bool:
    """Ask a question whose basis the step has just shown; the figure above it stays in sight.

    The answer is explained at once. "Show me" is an answer, too. A class gets a button that reveals the answer.
    Returns whether the answer may be said, also if there is no question.
    """
    if question is None:
        return True
    chosen = selection.current()
    question = reordered(replace(question, lesson=lesson), chosen[parameters.SEED])
    if chosen[parameters.TEACH]:
        return _shown_to_class(lesson, question, hashed(*selection.what_runs(chosen)), "_beside")
    name, known = (
        f"_beside.{_toy(question)}{lesson}.{question.id}",
        progress().predictions.get(_step(lesson, question), {}),
    )
    asking = question.key not in known or st.session_state.get(f"{name}.asking") == question.key
    with st.container(border=True):
        if asking:
            awaits_answer()
            _ask(lesson, name, question, beside=True)
        else:
            _compare(question, question.on_screen(known[question.key]))
            _turn("Ask me again", f"{name}.again", _set_asking, name, question.key)
    return not asking


def keep_place() -> None:
    """Reserve the place of a step's question for a class: right under the step names, above the explanations."""
    if parameters.TEACH.chosen():
        st.session_state[_PLACE] = st.container()


def _place() -> AbstractContextManager[object]:
    place = st.session_state.get(_PLACE)
    return place if isinstance(place, DeltaGenerator) else nullcontext()


def _shown_to_class(lesson: str, question: Question, run: str, where: str) -> bool:
    """Draw the question for a class, or its answer; the keys begin with ``where``.

    Returns whether the figure may be seen.
    """
    name, asked = f"{where}.teach.{lesson}.{question.id}", question.key
    state: _Revealed = st.session_state.setdefault(name, _Revealed())
    known = any(asked in keys for keys in state.keys.values())
    if not known and run not in state.keys:
        with st.container(border=True):
            _say(question)
            list_options(question)
            with st.container(horizontal=True):
                st.button(reveal(), key=f"{name}.reveal", on_click=state.reveal, args=(run, asked))
                offer(lesson, question, name, seen())
        return False
    with st.container(border=known, horizontal=True, vertical_alignment="center"):
        if known:
            _compare(question, None)
        _turn("Hide again", f"{name}.hide", state.hide, run, asked)
    return True


def _predicted(lesson: str, question: Question, in_sight: bool) -> bool:
    """Draw the question, the button that opens it, or its outcome. Returns whether the figure may be seen."""
    step, name = _step(lesson, question), f"_predict.{_toy(question)}{lesson}.{question.id}"
    asked = question.key
    known = progress().predictions.get(step, {})
    in_sight = in_sight or step in progress().predictions
    if st.session_state.get(f"{name}.asking") == asked or not in_sight:
        with st.container(border=True):
            _ask(lesson, name, question)
        return in_sight
    answered = asked in known
    with st.container(border=answered, horizontal=True, vertical_alignment="center"):
        if answered:
            _compare(question, question.on_screen(known[asked]))
        label = "Ask me again" if answered else "Ask me this step’s question" if known else "Ask me first"
        _turn(label, f"{name}.again", _set_asking, name, asked)
    return True


def _step(lesson: str, question: Question | None = None) -> str:
    """Return the name of the step on screen in the learner's progress; the step of a toy has a name of its own."""
    return f"{_toy(question)}{lesson}/{step_on_screen(lesson)}"


def _toy(question: Question | None) -> str:
    about_toy = parameters.MODE.chosen() == parameters.TOY and not (question is not None and question.always)
    return TOY if about_toy else ""


def _say(question: Question, *, beside: bool = False) -> None:
    st.markdown(f":material/psychology_alt: **{'Your turn' if beside else 'Predict'}.** {question.prompt}")


def _ask(lesson: str, name: str, question: Question, *, beside: bool = False) -> None:
    _say(question, beside=beside)
    choice = choose(question, key=f"{name}.choice.{question.key}")
    with st.container(horizontal=True):
        off = choice is None
        st.button(
            "Answer" if beside else COMMIT,
            key=f"{name}.commit",
            type="primary",
            disabled=off,
            on_click=_commit,
            args=(lesson, name, question, choice),
        )
        st.button("Show me", key=f"{name}.skip", type="tertiary", on_click=_commit, args=(lesson, name, question, None))


def _commit(lesson: str, name: str, question: Question, choice: int | None) -> None:
    """Note the learner's answer; None if the question was skipped."""
    kept = None if choice is None else question.kept_as(choice)
    remember(progress().predicted(_step(lesson, question), question.key, kept))
    did(lesson)
    _set_asking(name, "")


def _set_asking(name: str, asked: str) -> None:
    """Note that the question with this key is asked beside its figure; "" notes that no question is."""
    st.session_state[f"{name}.asking"] = asked


def _turn(label: str, key: str, act: Callable[[str, str], None], *which: str) -> None:
    st.button(label, key=key, type="tertiary", icon=":material/undo:", on_click=act, args=which)


def _compare(question: Question, choice: int | None) -> None:
    truth = question.options[question.answer]
    right = lettered(question, question.answer)
    if choice is None:
        st.markdown(f":material/psychology_alt: {question.prompt} The answer is {right}. {truth.why}")
        return
    verdict = ", as you predicted." if choice == question.answer else f". You predicted {lettered(question, choice)}."
    st.markdown(f":material/psychology_alt: {question.prompt} The answer is {right}{verdict} {truth.why}")
