"""A room's question on every screen of it: its options, and after the reveal how the class answered and why."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from lab.course.checks import with_letter
from lab.course.lessons import LESSONS, number, script
from lab.figures.room import NAMES, round_chart
from lab.rooms.counts import FEWEST, Counts
from lab.rooms.questions import Hidden, Posed
from lab.ui import chosen_tokens, parameters, runs, selection
from lab.ui.drawing import draw


def option_named(question: Posed | Hidden, place: int) -> str:
    """An option as it stands on screen, with its letter."""
    return with_letter(place, _texts(question)[place])


def ask(question: Posed | Hidden) -> None:
    """What is asked, and about what."""
    st.header(question.prompt, anchor=False)
    st.caption(f"{question.about}.")


def list_options(question: Posed | Hidden) -> None:
    """The options, one a line."""
    st.markdown("  \n".join(option_named(question, place) for place in range(len(_texts(question)))))


def rounds(found: Sequence[Counts], key: str) -> None:
    """The rounds side by side; of too few answers nothing is shown."""
    for each, column in zip(found, st.columns(max(1, len(found)), gap="large"), strict=False):
        with column:
            if each.withheld:
                st.markdown(f"**{NAMES[each.turn]}.** Fewer than {FEWEST} answers, so they are not shown.")
            else:
                draw(round_chart(each), f"{key}.{each.turn}")


def explain(question: Posed) -> None:
    """Which option is right, and why each one is or is not."""
    answer = question.options[question.answer]
    st.success(f"{option_named(question, question.answer)}. {answer.why}", icon=":material/check:")
    others = [place for place in range(len(question.options)) if place != question.answer]
    st.markdown("\n".join(f"- {option_named(question, place)}: {question.options[place].why}" for place in others))


def see(question: Posed, key: str) -> None:
    """The way to the lesson's step, with the sentence and the head of the question."""
    lesson = next(each for each in LESSONS if each.id == question.lesson)
    label, icon = f"See it in lesson {number(lesson)}, {lesson.title}", ":material/arrow_forward:"
    if st.button(label, key=key, icon=icon, type="tertiary", on_click=_take, args=(question,)):
        step = {parameters.STEP.name: question.link.get(parameters.STEP.name, "")}
        st.switch_page(script(lesson.page), query_params=selection.elsewhere() | (step if step["step"] else {}))


def _take(question: Posed) -> None:
    selection.take(question.link, runs.model_ids())
    chosen_tokens.forget()


def _texts(question: Posed | Hidden) -> tuple[str, ...]:
    return tuple(each if isinstance(each, str) else each.text for each in question.options)
