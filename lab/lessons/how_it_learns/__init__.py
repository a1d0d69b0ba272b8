"""Lesson 10: How it learns. Each step is the file of its id; ``lesson.toml`` has their order and the fixed texts."""

from __future__ import annotations

from lab.models.trace import Trace
from lab.ui.page import LessonPage
from lab.ui.play import LessonRun, Parts
from lab.ui.shared.prediction import PredictionView, cannot_predict
from lab.ui.shared.prediction import look as look_at_place
from lab.ui.toys.filling import show_rule, show_toy_trace

LESSON = "how-it-learns"


def look(page: LessonPage, trace: Trace, step: str) -> PredictionView | LessonRun | None:
    """Return the place of *Surprise*; the other steps bring figures and sentences of their own."""
    return look_at_place(page, trace) if step == "surprise" else LessonRun(page, trace)


PARTS: Parts[PredictionView | LessonRun] = Parts(
    look=look,
    toy=show_toy_trace,
    toy_steps={"Toy sentences": show_rule},
    refusal=lambda trace: cannot_predict(trace.model),
)
