"""How much a step says before one opens a fold: issue 31 allows 120 words before "What this means", and 50 after it.

Measured with the sentence and the model that a visit begins with, after the prediction. The answered question is not
counted: its explanation is where its options were.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from lab.course.pages import LESSONS, Lesson
from tests.pages.apptest import go, reveal, visit, without_marks, worked
from tests.thorough import some

BEFORE, AFTER = 120, 50
# After it has named what was seen, the map of the head follows, and its rows and columns have names, too.
LONGER = {
    ("self-attention", "map"): 125,
    ("masked-language-model", "hide-words"): 145,  # the task in training; a table’s bars count, too
    ("masked-language-model", "writing-on"): 90,  # BERT and GPT-2 side by side
    ("masked-language-model", "learns-of-france"): 105,  # the same for other countries, with its table
    ("a-task-of-your-own", "change-the-model"): 135,  # if another visit has trained it: many trainings, and their price
    ("a-task-of-your-own", "why-this-answer"): 85,  # and many sentences
}
MEANING = "**What this means.**"
# The answered question, and the texts that are the figure of “Excited by”.
NOT_COUNTED = re.compile(r":material/psychology_alt:|- .*:blue-background\[", re.DOTALL)
_SAID = ("title", "header", "subheader", "markdown", "caption", "info", "warning", "success", "error")


def unfolded(block: Any) -> Iterator[str]:
    """The texts of a block that nobody has to open: those in expanders and popovers are left out."""
    if block.type in ("expander", "popover"):
        return
    if block.type in _SAID:
        yield without_marks(block.value)
    elif block.type == "radio":
        yield " ".join([block.label, *block.options])
    for child in getattr(block, "children", {}).values():
        yield from unfolded(child)


def count(texts: list[str]) -> int:
    """The words of Markdown texts; signs alone are none."""
    return sum(len(re.findall(r"[^\s*·]+", text)) for text in texts)


@pytest.mark.parametrize("lesson", some(LESSONS, 3), ids=lambda lesson: lesson.id)
def test_a_step_says_little_before_its_meaning_and_less_after_it(lesson: Lesson) -> None:
    at, said = visit(lesson.page.removeprefix("pages/")), 0
    frame = {lesson.title, lesson.question}
    for step in lesson.steps:
        if step.aside or step.id == "check" or step.models == "causal":
            continue
        reveal(worked(go(at, step.id)))  # a survey in the background has a meaning, too, when it is over
        texts = [text for text in unfolded(at.main) if text not in frame and not NOT_COUNTED.match(text)]
        texts = [text for text in texts if not re.fullmatch(r"This step: \d+ min · lesson: \d+ min", text)]
        end = next((i for i, text in enumerate(texts) if text.startswith(MEANING)), len(texts))
        said += end < len(texts)
        assert count(texts[:end]) <= BEFORE, (step.id, texts[:end])
        assert count(texts[end + 1 :]) <= LONGER.get((lesson.id, step.id), AFTER), (step.id, texts[end + 1 :])
    assert said >= 2
