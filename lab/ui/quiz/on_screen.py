"""The questions on screen at the end of a lesson, and how their subject is named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lab.charts.base.figure import Figure
from lab.course.words import quoted
from lab.questions.question import Question
from lab.ui import parameters


@dataclass(frozen=True)
class OnScreen:
    """Questions at the end of a lesson, and the figures that a class sees beside them, by the question's id.

    ``of`` names the layer and head that the questions about a run are about.
    """

    questions: tuple[Question, ...]
    figures: Mapping[str, Figure] = field(default_factory=dict)
    of: str = ""


_SHOWN = 120  # characters of a text that a caption names


def about(link: Mapping[str, str], of: str = "", says: str = "Asked about") -> str:
    """Name the texts of a check, for its caption; a link without a sentence means the sentence of a new visit."""
    if link.get(parameters.MODE.name) == parameters.TOY:
        asked = f"{says} a toy"
    else:
        texts = [link.get(each.name, each.default) for each in (parameters.TEXT, parameters.PAIR)]
        shown = [text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…" for text in texts if text]
        asked = f"{says} {' and '.join(map(quoted, shown))}"
    return f"{asked}, {of}" if of else asked
