"""Every lesson begins where the last one ended, and ends with what to keep; the words are those of the glossary."""

from __future__ import annotations

import re

import pytest

from lab.course.pages import LESSONS, Lesson


def sentences(text: str) -> list[str]:
    return [each for each in re.split(r"(?<=[.?])\s+", text) if each]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_sentences_are_short_and_whole(lesson: Lesson) -> None:
    story = lesson.story
    assert len(story.recap) == 3
    for part in (story.last, story.now, *story.recap, story.remember):
        assert part[0].isupper() and part.endswith((".", "?"))
        assert all(len(each.split()) <= 22 for each in sentences(part)), part
    said = " ".join((story.last, story.now, *story.recap, story.remember)).split()
    assert len(said) / len(sentences(" ".join(said))) < 15
