"""Predictions before an answer, checks after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab.course.checks import Question, lettered, reordered
from lab.course.progress import Progress, answer_to
from lab.ui import parameters, selection
from lab.ui.asked import Asked, Figures, about, fingerprint, hashed
from lab.ui.drawing import draw

_PROGRESS = "progress"
_PLACE = "_question_place"


def progress() -> Progress:
    """This session's progress."""
    stored = st.session_state.get(_PROGRESS)
    return stored if isinstance(stored, Progress) else Progress()


def remember(now: Progress) -> None:
    """Make ``now`` this session's progress."""
    st.session_state[_PROGRESS] = now


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
    name = f"_predict.{'teach.' if chosen.teach else ''}{lesson}.{question.id}"
    state: _Prediction = st.session_state.setdefault(name, _Prediction())
    with _place(bool(chosen.teach)):
        return _predicted(name, state, question, bool(chosen.teach))


def keep_place() -> None:
    """Where a class finds the question of a step: right under the names of the steps, whatever explains it below."""
    st.session_state[_PLACE] = st.container()


def _place(teach: bool) -> AbstractContextManager[object]:
    place = st.session_state.get(_PLACE)
    return place if teach and isinstance(place, DeltaGenerator) else nullcontext()


def _predicted(name: str, state: _Prediction, question: Question, teach: bool) -> bool:
    """Draw the question or what came of it; whether its answer may be seen."""
    run, asked = hashed(*selection.what_runs()), fingerprint(question)
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
            _options(question)
            st.button("Reveal", key=f"{name}.reveal", on_click=state.reveal, args=(run, asked, None))
        else:
            _ask(name, state, question, run)
    return False


def _say(question: Question) -> None:
    st.markdown(f":material/psychology_alt: **Predict.** {question.prompt}")


def _ask(name: str, state: _Prediction, question: Question, run: str) -> None:
    asked = fingerprint(question)
    _say(question)
    choice = st.radio(
        question.prompt, range(len(question.options)), index=None, label_visibility="collapsed",
        format_func=lambda i: lettered(question, i), key=f"{name}.choice.{asked}",
    )  # fmt: skip
    with st.container(horizontal=True):
        st.button(
            "Commit and show", key=f"{name}.commit", disabled=choice is None, on_click=state.reveal,
            args=(run, asked, choice),
        )  # fmt: skip
        st.button("Skip", key=f"{name}.skip", type="tertiary", on_click=state.reveal, args=(run, asked, None))


def _offer_again(name: str, state: _Prediction, run: str, asked: str) -> None:
    """The learner has met this question with another sentence or model: ask again, or just show."""
    st.markdown(":material/psychology_alt: **Predict again?** Another sentence or model can have another answer.")
    with st.container(horizontal=True):
        st.button("Ask me again", key=f"{name}.again", on_click=state.hide, args=(run, asked))
        st.button("Skip", key=f"{name}.skip", type="tertiary", on_click=state.reveal, args=(run, asked, None))


def _hide_button(name: str, state: _Prediction, run: str, asked: str, teach: bool) -> None:
    st.button(
        "Hide again" if teach else "Ask me again", key=f"{name}.hide", type="tertiary", icon=":material/undo:",
        on_click=state.hide, args=(run, asked),
    )  # fmt: skip


def _options(question: Question) -> None:
    """The options for a class, one a line, to be voted on by letter."""
    st.markdown("  \n".join(lettered(question, i) for i in range(len(question.options))))


def _compare(question: Question, choice: int | None) -> None:
    truth = question.options[question.answer]
    right = lettered(question, question.answer)
    if choice is None:
        st.markdown(f":material/psychology_alt: {question.prompt} {right}. {truth.why}")
        return
    verdict = "as you predicted" if choice == question.answer else f"you predicted {lettered(question, choice)}"
    st.markdown(f":material/psychology_alt: {question.prompt} {right}, {verdict}. {truth.why}")


def checks(
    lesson: str, questions: Sequence[Question | None], most: int = 3, *,
    of: str = "", figures: Figures | None = None, text: str = "",
) -> None:  # fmt: skip
    """Ask ``most`` of the questions that this trace decides clearly; the first try counts.

    They stay, with their answers, until the learner asks for new ones: about the sentence, and the layer and head
    (``of``), that were chosen when they were asked. ``figures``, by the question's id, are drawn beside a question;
    ``text`` is what the lesson showed where it was not the learner's own.
    While a class is taught, nothing is kept or counted, and the answers stay hidden until a button reveals them.
    """
    seed, pool = parameters.SEED.chosen(), [question for question in questions if question is not None]

    def drawn(before: Asked | None = None) -> Asked:
        new = Asked.now(pool, most, seed, of, figures or {}, before)
        return replace(new, link={**new.link, "text": text}) if text else new

    st.header("Check yourself")
    if parameters.TEACH.chosen():
        kept = drawn()
        for number, question in enumerate(kept.questions, start=1):
            with _box(lesson, kept, question):
                _show(lesson, number, question)
    else:
        stored = _stored(lesson)
        before = stored if stored is not None and stored.seed == seed else None
        kept = drawn(before) if before is None or before.done else before
        st.session_state[_asked_name(lesson)] = kept if kept.questions else None
        for number, question in enumerate(kept.questions, start=1):
            with _box(lesson, kept, question):
                _check(lesson, number, question, kept)
        _offer_new(lesson, kept)
    if not kept.questions:
        st.markdown("This sentence decides none of the questions clearly. Try a longer one.")


def _asked_name(lesson: str) -> str:
    return f"_asked.{lesson}"


def _stored(lesson: str) -> Asked | None:
    stored = st.session_state.get(_asked_name(lesson))
    return stored if isinstance(stored, Asked) else None


def ask_about(lesson: str, link: Mapping[str, str]) -> None:
    """Make the checks of a lesson those about what ``link`` names, if they are about anything else."""
    stored = _stored(lesson)
    if stored is not None and dict(stored.link) != dict(link):
        _ask_new(lesson)


def _ask_new(lesson: str) -> None:
    if (stored := _stored(lesson)) is not None:
        st.session_state[_asked_name(lesson)] = replace(stored, done=True)


def _offer_new(lesson: str, kept: Asked) -> None:
    """What the questions are about, and the way to others."""
    if not kept.questions:
        return
    changed = "" if selection.what_runs() == kept.run else " You have another sentence or model now."
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{about(kept.link, kept.of)}.{changed}", width="content")
        st.button("New questions", key=f"_new.{lesson}", icon=":material/refresh:", on_click=_ask_new, args=(lesson,))


def _box(lesson: str, kept: Asked, question: Question) -> AbstractContextManager[object]:
    """The frame of one check, with its figure on the right where it has one."""
    frame = st.container(border=True)
    if question.id not in kept.figures:
        return frame
    left, right = frame.columns(2)
    with right:
        draw(kept.figures[question.id], f"check.{lesson}.{kept.number}.{question.id}")
    return left


def _show(lesson: str, number: int, question: Question) -> None:
    """A check for a class: its options, and behind a button which one is right."""
    st.markdown(f"**{number}.** {question.prompt}")
    name = f"_show.{lesson}.{question.id}.{hashed(*selection.what_runs())}.{fingerprint(question)}"
    if not st.session_state.get(name):
        _options(question)
        st.button("Reveal", key=f"{name}.reveal", on_click=_uncover, args=(name, True))
        return
    st.success(
        f"{lettered(question, question.answer)}. {question.options[question.answer].why}", icon=":material/check:"
    )
    _why_each(question)
    st.button(
        "Hide again", key=f"{name}.hide", type="tertiary", icon=":material/undo:", on_click=_uncover, args=(name, False)
    )


def _uncover(name: str, shown: bool) -> None:
    st.session_state[name] = shown


def _check(lesson: str, number: int, question: Question, kept: Asked) -> None:
    st.markdown(f"**{number}.** {question.prompt}")
    name = f"_check.{lesson}.{kept.number}.{question.id}.{fingerprint(question)}"
    remember(progress().asked(lesson, question.id))
    choice = st.radio(
        question.prompt, range(len(question.options)), index=None, label_visibility="collapsed",
        format_func=lambda i: lettered(question, i), key=name, persist_state="session",
        on_change=_answer, args=(name, lesson, question, kept.link),
    )  # fmt: skip
    if choice is None:
        return
    if question.options[choice].correct:
        st.success(question.options[choice].why, icon=":material/check:")
    else:
        st.error(question.options[choice].why, icon=":material/close:")
    with st.expander("Why each option is right or wrong"):
        _why_each(question)


def _answer(name: str, lesson: str, question: Question, link: Mapping[str, str]) -> None:
    """Before the page is drawn again, so that its header knows."""
    choice = st.session_state.get(name)
    if isinstance(choice, int):
        remember(progress().answered(lesson, question.id, answer_to(question, choice, link)))


def _why_each(question: Question) -> None:
    st.markdown("\n".join(f"- {lettered(question, i)}: {each.why}" for i, each in enumerate(question.options)))
