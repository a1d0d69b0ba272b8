"""The end of the course is short, and each claim in it has its paper."""

import re

from lab.lessons.masked_language_model.onward import ONWARD, USES


def test_it_is_short_and_each_sentence_has_a_paper() -> None:
    assert len(ONWARD.split()) <= 120 and len(USES.split()) <= 60
    for sentence in re.split(r"(?<=\d\)\.) ", ONWARD):
        assert re.search(r"\b(19|20)\d\d\b", sentence), sentence
