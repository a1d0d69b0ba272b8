"""A room's question on every screen of the room: its options and, after the reveal, the answers with reasons."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import streamlit as st

from lab.course.pages import Lesson, number, page_of
from lab.course.words import stopped
from lab.figures.room import NAMES, votes_of
from lab.questions.question import Question, lettered
from lab.rooms.counts import FEWEST, Counts
from lab.rooms.series import OWN
from lab.ui import chosen_tokens, parameters, runs, selection
from lab.ui.room.picture import show_picture


def style(name: str = "look") -> None:
    """Draw the style sheet ``name`` of rooms."""
    st.html(f"<style>{_read(name)}</style>")


@cache
def _read(name: str) -> str:
    return Path(__file__).with_name(f"{name}.css").read_text("utf-8")


def ask(question: Question, number: str = "") -> None:
    """Draw the question, after its ``number``, what it is about, and its picture."""
    st.header(f"{number}{question.prompt}", anchor=False)
    if question.about:
        st.caption(stopped(question.about))
    show_picture(question.picture)


def rounds(found: Sequence[Counts], question: Question, *, revealed: bool = True, shares: bool = True) -> None:
    """Draw the rounds of a question side by side, except those with too few answers.

    If ``revealed``, the right answer is marked, and the ``shares`` of right answers are said with their intervals.
    """
    shown = [each for each in found if not each.withheld]
    for each in found:
        if each.withheld:
            st.markdown(f"**{NAMES[each.turn]}.** There are fewer than {FEWEST} answers, so they are not shown.")
    if shown:
        st.html(votes_of(shown, question, revealed))
    if revealed and shares:
        st.markdown("  \n".join(_right_share(each) for each in shown))


def _right_share(found: Counts) -> str:
    """Put the share of right answers and its interval into a sentence."""
    low, high = found.interval
    return (
        f"{NAMES[found.turn]}, right answers: **{found.right:.0%}** of {found.count} (95 % interval: {low:.0%} to "
        f"{high:.0%})."
    )


def explain(question: Question) -> None:
    """Name the right answer, and explain why each option is right or wrong; a teacher's own question says it once."""
    right = question.answer
    st.success(f"{lettered(question, right)}. {question.options[right].why}", icon=":material/check:")
    if question.id == OWN:
        return
    others = [place for place in range(len(question.options)) if place != right]
    st.markdown("\n".join(f"- {lettered(question, place)}: {question.options[place].why}" for place in others))


def see(question: Question, key: str, label: str = "") -> None:
    """Draw the link to the lesson's step, with the sentence and the head of the question, if a lesson has asked it."""
    if not question.lesson:
        return
    lesson = page_of(question.lesson)
    where = f"in lesson {number(lesson)}, {lesson.title}" if isinstance(lesson, Lesson) else "on the first page"
    label, icon = label or f"See it {where}", ":material/arrow_forward:"
    if st.button(label, key=key, icon=icon, type="tertiary", on_click=_take, args=(question,)):
        selection.open_page(lesson, question.link.get(parameters.STEP.name, ""))


def _take(question: Question) -> None:
    selection.take(question.link, runs.model_ids())
    chosen_tokens.forget()
