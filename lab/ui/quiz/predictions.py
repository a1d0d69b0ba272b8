"""Predictions before an answer."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab.course.checks import Question, lettered, reordered
from lab.ui import parameters, selection
from lab.ui.quiz.asked import fingerprint, hashed
from lab.ui.quiz.question import choose, list_options
from lab.ui.room.asking import offer
from lab.ui.selection import Selection

_PLACE = "_question_place"


@dataclass
class _Prediction:
    """What was committed to a question: by run (sentence and model), the option chosen for each wording of it.

    Within a run a wording changes with the head or the token that is looked at; ``asking`` is the run for which
    the learner wants to be asked again.
    """

    committed: dict[str, dict[str, int | None]] = field(default_factory=dict)
    asking: str = ""

    def reveal(self, run: str, asked: str, choice: int | None) -> None:
        """The learner has committed (None: skipped)."""
        self.committed.setdefault(run, {})[asked] = choice

    def hide(self, run: str, asked: str) -> None:
        """Ask again."""
        self.asking = run
        self.committed.pop(run, None)
        for choices in self.committed.values():
            choices.pop(asked, None)


def predict(lesson: str, question: Question) -> bool:
    """Ask before the figure is shown; return True once the learner has committed, or skipped.

    A reveal holds for the question, the model and the sentence: another head leaves the figure where it is, another
    sentence hides it. A question that comes out the same for both sentences, numbers included, stays answered.
    While a class is taught, the class answers aloud and a button reveals; the question stands at the top of the step.
    """
    chosen = selection.current()
    question = reordered(question, chosen.seed)
    state: _Prediction = st.session_state.setdefault(_name(lesson, question, bool(chosen.teach)), _Prediction())
    with _place(bool(chosen.teach)):
        return _predicted(lesson, state, question, chosen)


def keep_place() -> None:
    """Where a class finds the question of a step: right under the names of the steps, whatever explains it below."""
    if parameters.TEACH.chosen():
        st.session_state[_PLACE] = st.container()


def _place(teach: bool) -> AbstractContextManager[object]:
    place = st.session_state.get(_PLACE)
    return place if teach and isinstance(place, DeltaGenerator) else nullcontext()


def _name(lesson: str, question: Question, teach: bool) -> str:
    return f"_predict.{'teach.' if teach else ''}{lesson}.{question.id}"


def _predicted(lesson: str, state: _Prediction, question: Question, chosen: Selection) -> bool:
    """Draw the question or what came of it; whether its answer may be seen."""
    teach = bool(chosen.teach)
    name = _name(lesson, question, teach)
    run, asked = hashed(*selection.what_runs(chosen)), fingerprint(question)
    known = {wording: choice for choices in state.committed.values() for wording, choice in choices.items()}
    if asked in known:
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            _compare(question, known[asked])
            _hide_button(name, state, run, asked, teach)
        return True
    if run in state.committed:  # of another head or token: do not hide the figure while these are tried
        _hide_button(name, state, run, asked, teach)
        return True
    with st.container(border=True):
        if known and not teach and state.asking != run:
            _offer_again(name, state, run, asked)
        elif teach:
            _say(question)
            list_options(question)
            with st.container(horizontal=True):
                st.button("Reveal", key=f"{name}.reveal", on_click=state.reveal, args=(run, asked, None))
                offer(lesson, question, name)
        else:
            _ask(name, state, question, run)
    return False


def _say(question: Question) -> None:
    st.markdown(f":material/psychology_alt: **Predict.** {question.prompt}")


def _ask(name: str, state: _Prediction, question: Question, run: str) -> None:
    asked = fingerprint(question)
    _say(question)
    choice = choose(question, key=f"{name}.choice.{asked}")
    with st.container(horizontal=True):
        off, show = choice is None, state.reveal
        st.button("Commit and show", key=f"{name}.commit", disabled=off, on_click=show, args=(run, asked, choice))
        st.button("Skip", key=f"{name}.skip", type="tertiary", on_click=show, args=(run, asked, None))


def _offer_again(name: str, state: _Prediction, run: str, asked: str) -> None:
    """The learner has met this question with another sentence or model: ask again, or just show."""
    st.markdown(":material/psychology_alt: **Predict again?** Another sentence or model can have another answer.")
    with st.container(horizontal=True):
        st.button("Ask me again", key=f"{name}.again", on_click=state.hide, args=(run, asked))
        st.button("Skip", key=f"{name}.skip", type="tertiary", on_click=state.reveal, args=(run, asked, None))


def _hide_button(name: str, state: _Prediction, run: str, asked: str, teach: bool) -> None:
    label, icon, which = "Hide again" if teach else "Ask me again", ":material/undo:", (run, asked)
    st.button(label, key=f"{name}.hide", type="tertiary", icon=icon, on_click=state.hide, args=which)


def _compare(question: Question, choice: int | None) -> None:
    truth = question.options[question.answer]
    right = lettered(question, question.answer)
    if choice is None:
        st.markdown(f":material/psychology_alt: {question.prompt} {right}. {truth.why}")
        return
    verdict = "as you predicted" if choice == question.answer else f"you predicted {lettered(question, choice)}"
    st.markdown(f":material/psychology_alt: {question.prompt} {right}, {verdict}. {truth.why}")
