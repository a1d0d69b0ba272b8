"""A room's question on every screen of the room: its options and, after the reveal, the answers with reasons."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from lab.charts.tokens.chips import token_chips
from lab.course.pages import Lesson, number, page_of
from lab.course.words import number_of, stopped
from lab.figures.room import NAMES, heads_chart, votes_of
from lab.questions.forms import Kind, NumberAnswer, Picks
from lab.questions.question import Question, lettered
from lab.rooms.counts import Counts
from lab.rooms.seen import Seen, Told
from lab.rooms.series import OWN
from lab.rooms.states import ROUND, Phase
from lab.rooms.typed import wanted
from lab.ui import chosen_tokens, parameters, runs, selection
from lab.ui.drawing import draw
from lab.ui.room.picture import show_picture


def ask(question: Question) -> None:
    """Draw the question, what it is about, and its picture."""
    st.header(question.prompt, anchor=False)
    if question.about:
        st.caption(stopped(question.about))
    show_picture(question.picture)


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


def rounds(found: Sequence[Counts], of: Seen | Told, key: str, *, revealed: bool = True, shares: bool = True) -> None:
    """Draw the rounds of each question side by side, except those with too few answers.

    If ``revealed``, the right answer is marked, and the ``shares`` of right answers are said with their intervals.
    """
    thirds = [each for each in found if each.turn == ROUND[Phase.THIRD]]
    for question, own in ((of.question, [each for each in found if each not in thirds]), (of.third, thirds)):
        if question is not None and not question.is_open:
            _rounds_of(question, own, key, revealed)
            if revealed and shares:
                st.markdown("  \n".join(_right_share(each) for each in own if not each.withheld))


def _rounds_of(question: Question, found: Sequence[Counts], key: str, revealed: bool) -> None:
    shown = [each for each in found if not each.withheld]
    for each in found:
        if each.withheld:
            st.markdown(f"**{NAMES[each.turn]}.** There are fewer than {each.least} answers, so they are not shown.")
    if not shown:
        return
    picks = question.picks
    if picks is None:
        st.html(votes_of(shown, question, revealed))
    else:
        for each, column in zip(shown, st.columns(len(shown), gap="large"), strict=True):
            with column:
                _draw_picks(each, picks, f"{key}.{each.turn}", revealed)


def _draw_picks(found: Counts, picks: Picks, key: str, revealed: bool) -> None:
    """Draw the counts on the tokens themselves, or on the grid of heads."""
    if picks.tokens:
        st.markdown(f"**{NAMES[found.turn]}: {number_of(found.count, 'answer')}**")
        show_tokens(picks.tokens, found.options, found.answer if revealed else None)
    else:
        draw(heads_chart(found, picks, revealed), key)


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
    return (
        f"{NAMES[found.turn]}, right answers: **{found.right:.0%}** of {found.count} (95 % interval: {low:.0%} to "
        f"{high:.0%})."
    )


def explain(question: Question) -> None:
    """Name the right answer, and explain why each option is right or wrong; a teacher's own question says it once."""
    answer = question.options[question.answer]
    st.success(f"{right(question)} {answer.why}", icon=":material/check:")
    if question.id == OWN:
        return
    others = [place for place in range(len(question.options)) if place != question.answer]
    if question.kind is Kind.NUMBER:
        st.markdown("Some answers come from a typical mistake:")
    named = (_named(question, place) for place in others)
    st.markdown(
        "\n".join(f"- {name}: {question.options[place].why}" for name, place in zip(named, others, strict=True))
    )


def right(question: Question) -> str:
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
