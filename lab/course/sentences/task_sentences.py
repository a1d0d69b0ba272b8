"""The tasks of lesson 11: the lab's own sentences with good or bad news, and two tasks from the treebanks."""

from __future__ import annotations

from collections.abc import Mapping

from lab.analysis.tasks.probing import LabelledTask
from lab.course.sentences.news import BAD, GOOD, NEWS
from lab.evidence.labelled import QUESTION, TENSE, shipped

NEWS_TASK = "news"
# The tasks by their questions.
TASKS: Mapping[str, str] = {
    "Good or bad news?": NEWS_TASK,
    "Past or present?": TENSE,
    "Question or statement?": QUESTION,
}


def news() -> LabelledTask:
    """Return the sentences with good or bad news; the two sentences of a pair are one group."""
    texts = tuple(text for pair in NEWS for text in pair)
    marks = tuple(place % 2 == 0 for place in range(len(texts)))
    return LabelledTask(NEWS_TASK, (GOOD, BAD), texts, marks, tuple(place // 2 for place in range(len(texts))))


def task_of(id: str) -> LabelledTask:
    """Return a task by its id."""
    return news() if id == NEWS_TASK else shipped(id)
