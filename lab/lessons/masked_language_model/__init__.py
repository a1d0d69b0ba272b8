"""Lesson 9: Masked words. Each step is the file of its id; ``lesson.toml`` has their order and fixed texts."""

from __future__ import annotations

from lab.models.trace import Trace
from lab.ui.page import LessonPage
from lab.ui.play import LessonRun, Parts
from lab.ui.shared.prediction import PredictionView, cannot_predict
from lab.ui.toys.filling import show_rule, show_toy_trace

LESSON = "masked-language-model"


# The modules of this package can be imported only when the package itself has been.


def look(page: LessonPage, trace: Trace, step: str) -> PredictionView | LessonRun | Trace | None:
    """Draw the sentence of a step that asks about one place; see :mod:`lab.lessons.masked_language_model.view`."""
    from lab.lessons.masked_language_model.view import look as look_at_step

    return look_at_step(page, trace, step)


PARTS: Parts[PredictionView | LessonRun | Trace] = Parts(
    look=look,
    toy=show_toy_trace,
    toy_steps={"Toy sentences": show_rule},
    refusal=lambda trace: cannot_predict(trace.model),
)
