"""The glossary on its page, and the words of a lesson in its header."""

from __future__ import annotations

import pytest

from lab.course.glossary import GLOSSARY, search
from tests.pages.apptest import visit, words

PAGE = "21_Glossary.py"


def test_every_term_is_there() -> None:
    text = words(visit(PAGE))
    assert all(term.meaning in text for term in GLOSSARY)


def test_looking_up_keeps_what_has_the_word_in_it() -> None:
    at = visit(PAGE)
    at.text_input(key="look_up").set_value("softmax").run()
    text, found = words(at), search("softmax")
    assert all((term.meaning in text) == (term in found) for term in GLOSSARY)


@pytest.mark.parametrize("wanted", ["<script>alert(1)</script>", "كلمة", "🙂", "$x$ **b**"])
def test_what_is_not_there_is_said_to_be_not(wanted: str) -> None:
    at = visit(PAGE, look_up=wanted)
    assert "No term contains" in at.info[0].value
    assert "<script>" not in at.info[0].value


def test_the_words_of_a_lesson_wait_in_its_header() -> None:
    at = visit("3_Self-attention.py")
    assert "Objectives and words" in [popover.proto.popover.label for popover in at.get("popover")]
    assert not [term for term in GLOSSARY if term.lesson == "self-attention" and term.meaning in words(at)]
