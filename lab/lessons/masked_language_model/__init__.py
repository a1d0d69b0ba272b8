"""Lesson 9: Masked-language model. Each step is the file of its id; ``lesson.toml`` has their order and fixed texts."""

from __future__ import annotations

from collections.abc import Callable

from lab.course.pages import step_name
from lab.models.trace import Trace
from lab.ui.page import LessonPage
from lab.ui.parameters import MODE, TEACH, TOY
from lab.ui.play import Parts
from lab.ui.shared.prediction import PredictionView, cannot_predict
from lab.ui.toys.filling import show_rule, show_toy_trace

LESSON = "masked-language-model"


# The modules of this package can be imported only when the package itself has been.


def look(page: LessonPage, trace: Trace) -> Callable[[str], PredictionView | Trace | None]:
    """Draw the sentence of a step that asks about one place; see :mod:`lab.lessons.masked_language_model.view`."""
    from lab.lessons.masked_language_model.view import look as look_at_step

    return look_at_step(page, trace)


def show_ending(page: LessonPage, trace: Trace) -> None:
    """Draw the end of the page; see :mod:`lab.lessons.masked_language_model.tries`."""
    from lab.lessons.masked_language_model.tries import show_own_sentence

    if page.selection[MODE] != TOY and not page.selection[TEACH]:
        show_own_sentence(step_name(LESSON, "next-token" if trace.model.config.causal else "hide-words"))


PARTS: Parts[PredictionView | Trace] = Parts(
    look=look,
    toy=show_toy_trace,
    toy_steps={"Toy sentences": show_rule},
    refusal=lambda trace: cannot_predict(trace.model),
    ending=show_ending,
)
