"""Every lesson begins where the last one ended, and ends with what to keep; the words are those of the glossary."""

from __future__ import annotations

import re

import pytest

from lab.course.pages import LESSONS, STORIES, Story


def sentences(text: str) -> list[str]:
    return [each for each in re.split(r"(?<=[.?])\s+", text) if each]


def test_every_lesson_has_its_story() -> None:
    assert list(STORIES) == [lesson.id for lesson in LESSONS]


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_sentences_are_short_and_whole(story: Story) -> None:
    for part in (story.last, story.now, *story.recap, story.remember):
        assert part[0].isupper() and part.endswith((".", "?"))
        assert all(len(each.split()) <= 22 for each in sentences(part)), part
    said = " ".join((story.last, story.now, *story.recap, story.remember)).split()
    assert len(said) / len(sentences(" ".join(said))) < 15
