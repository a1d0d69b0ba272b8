"""How much a step says before the first answer: at most 220 words, the question and its options among them.

Measured with the sentence and the model that a visit begins with. Folds are not counted, nor are the checks at the end
of a lesson: they are three questions and a challenge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from lab.course.pages import LESSONS, Lesson
from tests.pages.apptest import turn_to, visit, without_marks
from tests.thorough import some

MOST = 220
# Steps that say more, and how much they may say at most. Where a question comes after a figure or an example, those
# that stand above it are counted, too.
LONGER = {
    ("self-attention", "by-hand"): 310,
    ("head-specialization", "radar"): 240,
    ("inter-sentence-attention", "behind-a-cell"): 240,
    ("inter-sentence-attention", "matrix"): 270,
    ("feed-forward", "plan"): 290,
    ("feed-forward", "two-meanings"): 260,
    ("masked-language-model", "hide-words"): 225,  # the task in training
    ("feed-forward", "excited-by"): 290,  # twelve lines of texts, which are its figure
    ("how-it-learns", "one-step"): 330,
    ("a-task-of-your-own", "teach-it"): 270,
}
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


@pytest.mark.parametrize("lesson", some(LESSONS, 4), ids=lambda lesson: lesson.id)
def test_a_step_says_little_before_the_first_answer(lesson: Lesson) -> None:
    at, frame = visit(lesson.page.removeprefix("pages/")), {lesson.title, lesson.question}
    for step in lesson.steps:
        if step.aside or step.id == "check" or step.models == "causal":
            continue
        turn_to(at, step.id)
        texts = [text for text in unfolded(at.main) if text not in frame]
        assert count(texts) <= LONGER.get((lesson.id, step.id), MOST), (step.id, texts)
