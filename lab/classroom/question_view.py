"""A room's question on every screen of the room: its options and, after the reveal, the answers with reasons."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from lab.charts.tokens.chips import token_chips
from lab.course.pages import lesson_of, number
from lab.course.words import stopped
from lab.figures.room import NAMES, heads_chart, round_chart
from lab.questions.forms import Bounds, Kind, Picks
from lab.questions.question import with_letter
from lab.rooms.counts import FEWEST, Counts
from lab.rooms.questions import Hidden, Posed
from lab.rooms.seen import Seen, Told
from lab.rooms.states import ROUND, Phase
from lab.rooms.typed import wanted
from lab.ui import chosen_tokens, parameters, runs, selection
from lab.ui.drawing import draw


def option_named(question: Posed | Hidden, place: int) -> str:
    """Write an option as it is on screen, with its letter."""
    return with_letter(place, _texts(question)[place])


def ask(question: Posed | Hidden) -> None:
    """Draw the question, and what it is about."""
    st.header(question.prompt, anchor=False)
    st.caption(stopped(question.about))


def bounds_of(question: Posed | Hidden) -> Bounds | None:
    """The bounds of a number; None if the answer is not a number."""
    if isinstance(question, Hidden):
        return question.bounds
    return None if question.number is None else question.number.bounds


def picks_of(question: Posed | Hidden) -> Picks | None:
    """The tokens or heads to pick from; None if the answer is not a place."""
    if isinstance(question, Hidden):
        return question.picks
    return None if question.place is None else question.place.picks


def list_options(question: Posed | Hidden) -> None:
    """List the options, one per line, or say which answers may be typed or picked."""
    bounds = bounds_of(question)
    if bounds is not None:
        st.markdown(wanted(bounds))
        return
    picks = picks_of(question)
    if picks is not None:
        if picks.tokens:
            show_tokens(picks.tokens)
        else:
            st.markdown(f"Pick one of the {len(picks)} heads.")
        return
    st.markdown("  \n".join(option_named(question, place) for place in range(len(_texts(question)))))


def rounds(found: Sequence[Counts], of: Seen | Told, key: str, *, revealed: bool = True) -> None:
    """Draw the rounds side by side, except those with too few answers. If ``revealed``, the right answer is marked."""
    for each, column in zip(found, st.columns(max(1, len(found)), gap="large"), strict=False):
        with column:
            one_round(each, of, key, revealed=revealed)


def one_round(found: Counts, of: Seen | Told, key: str, *, revealed: bool = True) -> None:
    """Draw the result of one round and, if ``revealed``, the share of right answers."""
    question = of.third if found.turn == ROUND[Phase.THIRD] else of.question
    if found.withheld or not isinstance(question, Posed):
        st.markdown(f"**{NAMES[found.turn]}.** There are fewer than {FEWEST} answers, so they are not shown.")
        return
    _draw(found, question, f"{key}.{found.turn}", revealed)
    if revealed:
        st.markdown(_right_share(found))


def _draw(found: Counts, question: Posed, key: str, revealed: bool) -> None:
    """Draw the counts: on the tokens themselves, on the grid of heads, or as a chart."""
    picks = picks_of(question)
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


def explain(question: Posed) -> None:
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


def _right(question: Posed) -> str:
    """Name the right answer; for a number, also the range that counts as right."""
    name, number = _named(question, question.answer), question.number
    if number is None:
        return f"{name}."
    low = number.written(max(number.bounds.low, number.value - number.tolerance))
    high = number.written(min(number.bounds.high, number.value + number.tolerance))
    return f"{name}. Every answer from {low} to {high} counts as right."


def _named(question: Posed, place: int) -> str:
    """Write an option after the reveal, with its letter if it was chosen by letter."""
    return option_named(question, place) if question.kind is Kind.CHOICE else f"**{question.options[place].text}**"


def see(question: Posed, key: str) -> None:
    """Draw the link to the lesson's step, with the sentence and the head of the question."""
    lesson = lesson_of(question.lesson)
    label, icon = f"See it in lesson {number(lesson)}, {lesson.title}", ":material/arrow_forward:"
    if st.button(label, key=key, icon=icon, type="tertiary", on_click=_take, args=(question,)):
        selection.open_page(lesson, question.link.get(parameters.STEP.name, ""))


def _take(question: Posed) -> None:
    selection.take(question.link, runs.model_ids())
    chosen_tokens.forget()


def _texts(question: Posed | Hidden) -> tuple[str, ...]:
    return tuple(each if isinstance(each, str) else each.text for each in question.options)
