"""A page begins with the word that an example is about, in a head that shares its row out."""

from __future__ import annotations

from functools import cache

import pytest

import lab
from lab.analysis.heads.first_look import Look, first_look
from lab.course.sentences.examples import EXAMPLES, Example
from lab.course.sentences.looks import STORY_HEAD, is_story, look, look_head, look_in
from lab.models.catalogue import CATALOGUE, DEFAULT_MODEL, ships
from lab.models.loading import load_model
from lab.models.trace import Trace
from lab.ui.parameters import DEFAULT_TEXT

SHIPPED = [entry.id for entry in CATALOGUE if ships(entry)]
ABOUT = [each for each in EXAMPLES if each.about]


@cache
def traced(model: str, text: str, pair: str = "") -> Trace:
    return lab.trace(load_model(model), text, pair or None)


def heaviest(trace: Trace) -> list[str]:
    """The two tokens that the first row gives most."""
    found = look(trace)
    row = trace.layer(found.layer).attention[found.head, found.query]
    return [trace.tokens[place] for place in row.argsort(descending=True)[:2]]


@pytest.mark.parametrize("model", ["lab-minilm", "lab-bert"])
def test_the_sentence_of_every_visit_shows_who_he_is(model: str) -> None:
    """What lesson 3 says of the first row can be reasoned out: he is the brother."""
    trace = traced(model, DEFAULT_TEXT)
    assert trace.tokens[look(trace).query] == "he"
    assert heaviest(trace)[0] == "brother"


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("A pronoun with two candidates", "tired"),
        ("Agreement across a phrase", "keys"),
        ("A relative clause", "dog"),
        ("A capital", "france"),
    ],
)
def test_an_example_shows_its_point_on_the_default_model(name: str, key: str) -> None:
    example = next(each for each in ABOUT if each.name == name)
    trace = traced(DEFAULT_MODEL, example.text)
    assert trace.tokens[look(trace).query] == example.about
    assert heaviest(trace)[0] == key


@pytest.mark.parametrize("example", ABOUT, ids=lambda each: each.name)
@pytest.mark.parametrize("model", SHIPPED)
def test_the_row_is_soft_and_of_the_word_wherever_a_model_has_it_whole(model: str, example: Example) -> None:
    trace = traced(model, example.text, example.pair)
    found = look(trace)
    if is_story(trace):
        assert (found.layer, found.head) == STORY_HEAD
    else:
        assert trace.layer(found.layer).attention[found.head, found.query].max() < 0.9
    assert look_head(trace) == (found.layer, found.head)
    tokens = [token.lstrip("Ġ") for token in trace.tokens]
    if example.about in tokens:
        assert tokens[found.query] == example.about
        assert look_in(trace, 1, 2).query == found.query
    else:
        assert found == first_look(trace)


def test_another_text_begins_with_the_row_that_has_most_to_weigh() -> None:
    trace = traced(DEFAULT_MODEL, "The book that he wanted was gone.")
    assert look(trace) == first_look(trace)


def test_a_head_that_is_not_there() -> None:
    with pytest.raises(IndexError, match="heads 0 to 11"):
        look_in(traced(DEFAULT_MODEL, DEFAULT_TEXT), 0, 12)


def test_another_text_begins_at_its_blank_with_the_head_of_the_course() -> None:
    text = "She took her money to the [MASK] by the river."
    assert look(traced(DEFAULT_MODEL, text)) == Look(*STORY_HEAD, 7)
    assert look(traced("lab-bert", text)) == first_look(traced("lab-bert", text), 7)
    two = f"{text} They went to the [MASK]."
    assert look(traced(DEFAULT_MODEL, two)) == first_look(traced(DEFAULT_MODEL, two))
