"""A challenge at the end of a lesson: the learner makes something that shows a thing, and the lab looks at it.

A challenge has no score, and it can be tried again and again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from lab.models.encoding import TextError
from lab.ui import parameters
from lab.ui.quiz.done import did
from lab.ui.terms import say
from lab.ui.typed import say_shortened, shorten

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
