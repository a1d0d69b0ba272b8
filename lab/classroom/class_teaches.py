"""The class teaches: everybody writes a sentence with a label; a model learns one half and is tested on the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.tasks.few_examples import Halves, halves, of_new
from lab.analysis.tasks.sentence_vectors import brief, encoded
from lab.charts.base.chart_table import to_csv
from lab.course.words import escaped, number_of, plain, quoted
from lab.figures.learning_curve import learning_curve
from lab.models.encoding import TextError
from lab.models.loading import LoadedModel
from lab.questions.question import Question
from lab.rooms.counts import FEWEST
from lab.rooms.questions import TEACHES, class_teaches, one_line
from lab.rooms.rooms import RoomError
from lab.rooms.schema import LONGEST_SENTENCE
from lab.rooms.seen import Seen, Taught
from lab.rooms.server import server
from lab.rooms.states import Phase
from lab.ui import runs
from lab.ui.drawing import file
from lab.ui.parameters import MODEL
from lab.ui.room.picture import picture
from lab.ui.room.teacher_steps import SAID, change, put
from lab.ui.screen import show_table

_LABELS, _NEW, _PICKED = "_class.labels", "_class.new", "_class.picked"
_WRONG = "_class.wrong"  # says what is wrong with the labels
_LONGEST_LABEL, _MOST_SHOWN = 24, 6


def show_start(code: str) -> None:
    """Draw the form with which a class begins to teach: the two labels."""
    wrong = st.session_state.pop(_WRONG, "")
    label, icon = "The class teaches a model (lesson 11)", ":material/school:"
    with st.expander(label, icon=icon, expanded=bool(wrong)), st.form(_LABELS):
        st.markdown(
            "Everybody writes one sentence with one of your two labels. The model learns the sentences of one half of "
            f"the class, and is tested on the sentences of the other half. This takes at least {2 * FEWEST} sentences: "
            "with fewer, one could guess who wrote which."
        )
        for place, example in enumerate(("polite", "rude")):
            st.text_input(f"Label {place + 1}", key=f"{_LABELS}.{place}", max_chars=_LONGEST_LABEL, placeholder=example)
        st.caption("Only you see the sentences, without names. They are deleted with the room.")
        if wrong:
            st.warning(wrong, icon=":material/info:")
        st.form_submit_button("Let the class write", on_click=_begin, args=(code,))


def _begin(code: str) -> None:
    first, second = (str(st.session_state.get(f"{_LABELS}.{place}") or "") for place in (0, 1))
    try:
        asked = class_teaches(first, second)
    except ValueError as refused:
        st.session_state[_WRONG] = str(refused)
        return
    change(lambda: put(code, asked))


def show_teacher(code: str, key: str, taught: Taught) -> None:
    """Draw the sentences of the class, and a line in which the teacher asks the model that has learned about others."""
    told = taught.question
    phase = taught.state.phase
    if told is None or told.question.id != TEACHES or phase is Phase.OPEN:
        return
    found = server().rooms.sentences(code, key)
    if len(found) < 2 * FEWEST:
        st.info(
            f"The class has written {number_of(len(found), 'sentence')}. With fewer than {2 * FEWEST}, one could guess "
            "who wrote which, so they are not shown, and there is too little to learn from. Let them write on, or ask "
            "something else.",
            icon=":material/info:",
        )
        return
    if phase is Phase.REVEALED:
        _show_new(code, key, told.question)
    names = _names(told.question)
    with st.expander(f"The sentences of the class: {len(found)}", icon=":material/format_list_bulleted:"):
        table = pd.DataFrame(
            {"sentence": [text for text, _ in found], "label": [names[not first] for _, first in found]}
        )
        show_table(table, numbered=True)
        file("CSV", "sentences-of-the-class", "csv", to_csv(table))


def offer(code: str, key: str, taught: Taught) -> None:
    """Draw the button that teaches the model, once there are enough sentences, and nobody writes."""
    told = taught.question
    if told is None or told.question.id != TEACHES or taught.state.phase is not Phase.CLOSED:
        return
    if len(server().rooms.sentences(code, key)) >= 2 * FEWEST:
        label, args = "Teach the model", (code, key, _chosen_model(), told.question)
        st.button(label, type="primary", key="_class.teach", on_click=_teach, args=args)


def _chosen_model() -> str:
    return runs.readable(MODEL.chosen()) or MODEL.default


def _model_of(asked: Question) -> LoadedModel:
    """The model that has learned the sentences. Raises RoomError if this server does not have it."""
    named = asked.link[MODEL.name]
    if runs.readable(named) != named:
        raise RoomError(f"This server has no model called {quoted(named)}, which has learned your sentences.")
    return runs.model(named)


def _names(question: Question) -> tuple[str, str]:
    """The two labels, as the teacher typed them."""
    first, second = (plain(option.text) for option in question.options)
    return first, second


def read(model: LoadedModel, found: tuple[tuple[str, bool], ...]) -> tuple[Halves, int]:
    """The sentences as vectors, and how many the model could not read."""
    readable = [(text, label) for text, label in found if _can_read(model, text)]
    vectors = brief(model, [text for text, _ in readable]).mean if readable else np.empty((0, model.config.width), "f4")
    return halves(vectors, [label for _, label in readable]), len(found) - len(readable)


def _can_read(model: LoadedModel, text: str) -> bool:
    try:
        encoded(model, text)
    except TextError:
        return False
    return True


def _teach(code: str, key: str, named: str, asked: Question) -> None:
    """Let the model of this id learn, and show the class its curve; the room keeps which model it was."""

    def teach() -> None:
        found, unread = read(runs.model(named), server().rooms.sentences(code, key))
        learned = found.learned()
        if learned is None:
            raise RoomError("Each label needs two sentences, one to learn and one for the test. Let them write on.")
        curve, now = learned
        left = f" {number_of(unread, 'sentence')} could not be read." if unread else ""
        prompt = (
            f"The model learned {now.labelled} of your sentences. It is right about **{now.right} of {now.tested}** "
            f"others. A coin would be right about half.{left}"
        )
        drawn = len(curve.sizes) > 1  # one size is no curve
        shown = picture(learning_curve({"mean of the words": curve})) if drawn else None
        told = replace(asked, prompt=prompt, picture=shown, link={MODEL.name: named})
        server().rooms.tell(code, key, told)

    change(teach)


def _show_new(code: str, key: str, asked: Question) -> None:
    """Let the teacher type what the class shouts, and put it onto the wall with what the model says of it."""
    st.text_input("A sentence from the class", key=_NEW, max_chars=LONGEST_SENTENCE)
    st.button("Ask the model, and show it on the wall", key=_PICKED, on_click=_ask, args=(code, key, asked))
    if asked.about:
        st.markdown(asked.about)


def _ask(code: str, key: str, asked: Question) -> None:
    text = one_line(str(st.session_state.get(_NEW) or ""))

    def ask() -> None:
        model = _model_of(asked)
        if not text or not _can_read(model, text):
            raise RoomError("Type a sentence that the model can read.")
        found, _ = read(model, server().rooms.sentences(code, key))
        if not found.examples.ready:
            raise RoomError("Too few sentences are left, as people were removed from the room. Ask something else.")
        share = of_new(found.vectors, found.examples, brief(model, [text]).mean[0])
        label = _names(asked)[share <= 0.5]
        line = f"{quoted(text)}: **{escaped(label)}**, with the probability {max(share, 1 - share):.2f}"
        lines = [*asked.about.split("  \n"), line] if asked.about else [line]
        server().rooms.tell(code, key, replace(asked, about="  \n".join(lines[-_MOST_SHOWN:])))

    if change(ask):
        st.session_state[_NEW] = ""


def show_form(seen: Seen, question: Question, seat: str) -> None:
    """Draw a participant's form: one sentence, one of the two labels."""
    name = f"_room.{seen.state.code}.{seen.state.number}.writes"
    labels = [option.text for option in question.options]
    with st.form(f"{name}.form", border=False):
        st.text_input("Your sentence", key=f"{name}.text", max_chars=LONGEST_SENTENCE, autocomplete="off")
        st.segmented_control("Its label", range(2), format_func=labels.__getitem__, key=f"{name}.label", required=True)
        label = "Send again" if 1 in seen.mine else "Send"
        st.form_submit_button(label, key=f"{name}.send", type="primary", on_click=_write, args=(seen, seat, name))
    if 1 in seen.mine:
        st.success("Your sentence is in. You can change it until the round closes.", icon=":material/check:")
    st.caption("Your teacher sees it without your name. It is deleted with the room.")


def _write(seen: Seen, seat: str, name: str) -> None:
    text, label = str(st.session_state.get(f"{name}.text") or ""), st.session_state.get(f"{name}.label")
    if not text.strip() or label not in (0, 1):
        st.session_state[SAID] = "Write a sentence, and choose its label."
        return
    state = seen.state
    change(lambda: server().rooms.write(state.code, seat, state.number, text, label))
