"""Every term is said once, shortly, and belongs to a lesson; a text's terms are found by their longest spelling."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from lab.course.glossary import GLOSSARY, MOST_WORDS, Term, search, uses
from lab.course.pages import LESSONS

NAMES = {term.name: term for term in GLOSSARY}
SPELT = {spelling.casefold(): term for term in GLOSSARY for spelling in term.spellings}


@pytest.mark.parametrize("term", GLOSSARY, ids=lambda term: term.name)
def test_a_meaning_is_short_and_a_sentence(term: Term) -> None:
    assert 3 <= len(term.meaning.split()) <= MOST_WORDS
    assert term.meaning[0].isupper() and term.meaning.endswith((".", "…", "?"))
    assert term.formula.count("{") == term.formula.count("}") and "$" not in term.formula


def test_a_spelling_means_one_thing() -> None:
    spelt = Counter(spelling.casefold() for term in GLOSSARY for spelling in term.spellings)
    assert [spelling for spelling, times in spelt.items() if times > 1] == []


def test_every_lesson_teaches_words_and_every_word_has_a_lesson() -> None:
    assert {term.lesson for term in GLOSSARY} == {lesson.id for lesson in LESSONS}
    assert len(GLOSSARY) >= 60


def test_numbers_in_meanings_hold() -> None:
    """One nat is 1.44 bits; a log probability of −7 is one in a thousand, roughly."""
    assert "1.44 bits" in NAMES["nat"].meaning and round(math.log2(math.e), 2) == 1.44
    assert "−7" in NAMES["log probability"].meaning and 1 / math.exp(-7) == pytest.approx(1000, rel=0.1)


@pytest.mark.parametrize(
    ("wanted", "first"),
    [("softmax", "softmax"), ("  SOFTMAX ", "softmax"), ("bpe", "byte-pair encoding"), ("W_O", "output projection")],
)
def test_search_finds_a_spelling_first(wanted: str, first: str) -> None:
    assert search(wanted)[0].name == first


def test_search_finds_what_a_meaning_says_and_nothing_else() -> None:
    assert [term.name for term in search("chatbots")] == ["transformer"]
    assert search("zebra") == () and search("") == GLOSSARY


def test_the_terms_of_a_text_are_its_words_the_longest_first() -> None:
    text = "Each **token id** is a name. Tokens, what is softmaxed, and *softmax*."
    assert [term.name for term, _, _ in uses(text)] == ["token id", "token", "softmax"]
    assert [text[start:end] for _, start, end in uses(text)] == ["token id", "Tokens", "softmax"]
    assert not list(uses("Nothing of the field is in this text."))


@pytest.mark.parametrize(
    ("old", "term"),
    [
        ("Syntax Focus", "function word"),
        ("Semantics Focus", "content word"),
        ("Entities Focus", "entity"),
        ("Punctuation Focus", "punctuation"),
        ("Long-Range Attention", "long range"),
        ("Focus (entropy)", "entropy"),
    ],
)
def test_the_names_of_attention_atlas_are_found(old: str, term: str) -> None:
    assert search(old)[0].name == term
    assert old in NAMES[term].called
