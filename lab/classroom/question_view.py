"""A room's question on every screen of the room: its options and, after the reveal, the answers with reasons."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from lab.charts.tokens.chips import token_chips
from lab.course.pages import lesson_of, number
from lab.course.words import stopped
from lab.figures.room import NAMES, heads_chart, round_chart
from lab.questions.forms import Kind, NumberAnswer
from lab.questions.question import Question, lettered
from lab.rooms.counts import FEWEST, Counts
from lab.rooms.seen import Seen, Told
from lab.rooms.states import ROUND, Phase
from lab.rooms.typed import wanted
from lab.ui import chosen_tokens, parameters, runs, selection
from lab.ui.drawing import draw


def ask(question: Question) -> None:
    """Draw the question, and what it is about."""
    st.header(question.prompt, anchor=False)
    st.caption(stopped(question.about))


def list_options(question: Question) -> None:
    """List the options, one per line, or say which answers may be typed or picked."""
    if question.bounds is not None:
        st.markdown(wanted(question.bounds))
        return
    picks = question.picks
    if picks is not None:
        if picks.tokens:
            show_tokens(picks.tokens)
        else:
            st.markdown(f"Pick one of the {len(picks)} heads.")
        return
    st.markdown("  \n".join(lettered(question, place) for place in range(len(question.options))))


def rounds(found: Sequence[Counts], of: Seen | Told, key: str, *, revealed: bool = True) -> None:
    """Draw the rounds side by side, except those with too few answers. If ``revealed``, the right answer is marked."""
    for each, column in zip(found, st.columns(max(1, len(found)), gap="large"), strict=False):
        with column:
            one_round(each, of, key, revealed=revealed)


def one_round(found: Counts, of: Seen | Told, key: str, *, revealed: bool = True) -> None:
    """Draw the result of one round and, if ``revealed``, the share of right answers."""
    question = of.third if found.turn == ROUND[Phase.THIRD] else of.question
    if found.withheld or question is None or question.is_open:
        st.markdown(f"**{NAMES[found.turn]}.** There are fewer than {FEWEST} answers, so they are not shown.")
        return
    _draw(found, question, f"{key}.{found.turn}", revealed)
    if revealed:
        st.markdown(_right_share(found))


def _draw(found: Counts, question: Question, key: str, revealed: bool) -> None:
    """Draw the counts: on the tokens themselves, on the grid of heads, or as a chart."""
    picks = question.picks
    if picks is not None and picks.tokens:
        st.markdown(f"**{NAMES[found.turn]}: {found.count} answers**")
        show_tokens(picks.tokens, found.options, found.answer if revealed else None)
    elif picks is not None:
        draw(heads_chart(found, picks, revealed), key)
    else:
        draw(round_chart(found, question, revealed), key)


def show_tokens(tokens: Sequence[str], counts: Sequence[int] = (), right: int | None = None) -> None:
    """Draw the tokens of the text, each with the number of its picks below; the right token is framed and marked."""
    said = [
        f"{count} {'✓' * (place == right)}".strip() if count or place == right else None
        for place, count in enumerate(counts)
    ]
    labels = said or [None] * len(tokens)
    chips = [(token, (place,), label) for place, (token, label) in enumerate(zip(tokens, labels, strict=True))]
    st.html(token_chips(chips, chosen=right, groups=[int(label is not None) for label in labels]))


def _right_share(found: Counts) -> str:
    """Put the share of right answers and its interval into a sentence."""
    low, high = found.interval
    return f"Right answers: **{found.right:.0%}** of {found.count} (95 % interval: {low:.0%} to {high:.0%})."


def explain(question: Question) -> None:
    """Name the right answer, and explain why each option is right or wrong."""
    answer = question.options[question.answer]
    st.success(f"{_right(question)} {answer.why}", icon=":material/check:")
    others = [place for place in range(len(question.options)) if place != question.answer]
    if question.kind is Kind.NUMBER:
        st.markdown("Some answers come from a typical mistake:")
    named = (_named(question, place) for place in others)
    st.markdown(
        "\n".join(f"- {name}: {question.options[place].why}" for name, place in zip(named, others, strict=True))
    )


def _right(question: Question) -> str:
    """Name the right answer; for a number, also the range that counts as right."""
    name, number = _named(question, question.answer), question.number
    if not isinstance(number, NumberAnswer):
        return f"{name}."
    low = number.written(max(number.bounds.low, number.value - number.tolerance))
    high = number.written(min(number.bounds.high, number.value + number.tolerance))
    return f"{name}. Every answer from {low} to {high} counts as right."


def _named(question: Question, place: int) -> str:
    """Write an option after the reveal, with its letter if it was chosen by letter."""
    return lettered(question, place) if question.kind is Kind.CHOICE else f"**{question.options[place].text}**"


def see(question: Question, key: str) -> None:
    """Draw the link to the lesson's step, with the sentence and the head of the question."""
    lesson = lesson_of(question.lesson)
    label, icon = f"See it in lesson {number(lesson)}, {lesson.title}", ":material/arrow_forward:"
    if st.button(label, key=key, icon=icon, type="tertiary", on_click=_take, args=(question,)):
        selection.open_page(lesson, question.link.get(parameters.STEP.name, ""))


def _take(question: Question) -> None:
    selection.take(question.link, runs.model_ids())
    chosen_tokens.forget()
