"""The examples are at least fifteen, differ, and what is said of places in them holds."""

from __future__ import annotations

from string import ascii_lowercase

import pytest

from lab.course.sentences.examples import EXAMPLES, Example, example_of
from lab.models.catalogue import CATALOGUE, ships
from lab.models.loading import load_model
from lab.models.trace import trace

BY_NAME = {each.name: each for each in EXAMPLES}


def distance(name: str, first: str, second: str) -> int:
    words = BY_NAME[name].text.lower().replace(",", "").rstrip(".").split()
    return words.index(second) - words.index(first)


def test_there_are_fifteen_and_each_has_its_reason() -> None:
    assert len(BY_NAME) == len(EXAMPLES) >= 15
    assert len({(each.text, each.pair) for each in EXAMPLES}) == len(EXAMPLES) == len({each.why for each in EXAMPLES})
    assert all(len(each.why.split()) <= 30 for each in EXAMPLES)


def test_words_that_are_said_to_be_far_are_so_far() -> None:
    assert "five words before" in BY_NAME["A relative clause"].why
    assert distance("A relative clause", "dog", "barked") == 5
    assert "five words before" in BY_NAME["A nearer noun"].why and distance("A nearer noun", "dog", "ran") == 5
    assert distance("A nearer noun", "street", "ran") == 1


def test_the_sentence_that_is_said_to_have_every_letter_has() -> None:
    assert set(ascii_lowercase) <= set(BY_NAME["Every letter"].text.lower())
    assert distance("Every letter", "brown", "fox") == distance("Every letter", "lazy", "dog") == 1


def test_what_is_said_to_come_back_comes_back() -> None:
    repeated = BY_NAME["Repeated words"].text.lower().replace(",", "").rstrip(".").split()
    assert sum(repeated.count(word) > 1 for word in repeated) > len(repeated) / 2
    for name, word in (("Two meanings of bank", "bank"), ("Two meanings of bat", "bat")):
        assert BY_NAME[name].text.lower().rstrip(".").split().count(word) == 2


@pytest.mark.parametrize("model_id", [entry.id for entry in CATALOGUE if ships(entry)])
def test_every_model_that_ships_reads_them_whole(model_id: str) -> None:
    model = load_model(model_id)
    for each in EXAMPLES:
        assert 5 < len(trace(model, each.text, each.pair or None)) < 40


@pytest.mark.parametrize("example", EXAMPLES[::5], ids=lambda each: each.name)
def test_an_example_is_known_by_its_texts(example: Example) -> None:
    assert example_of(example.text, example.pair) is example
    assert example_of(example.text + "!", example.pair) is None
