"""What is looked at first shares its attention out, wherever any row does, on every example and model that ships."""

from __future__ import annotations

import re
from functools import cache

import pytest

import lab
from lab.analysis.heads.first_look import first_look, first_look_in, heaviest_key
from lab.course.pages import LESSONS
from lab.course.sentences.examples import EXAMPLES, Example
from lab.models.catalogue import CATALOGUE, ships
from lab.models.loading import load_model
from lab.models.trace import Trace
from lab.toy.data import as_text, generate
from lab.toy.models import constructed_toy, random_toy
from lab.ui.parameters import DEFAULT_TEXT
from tests.thorough import THOROUGH

SHIPPED = [entry.id for entry in CATALOGUE if ships(entry)]
TEXTS = [*EXAMPLES, *(Example(each.id, each.text, "") for each in LESSONS if each.text)]
TOYS = {"constructed": constructed_toy(8, 8), "random": random_toy(8, 8)}


@cache
def traced(model: str, text: str, pair: str = "") -> Trace:
    return lab.trace(load_model(model), text, pair or None)


def whole_words(trace: Trace) -> set[int]:
    """The tokens that hold all letters between two other characters of their text, and nothing else."""
    found = set()
    for place, (start, end) in enumerate(trace.offsets):
        text = (trace.pair or "") if trace.encoding.in_pair[place] else trace.text
        runs = {match.span() for match in re.finditer(r"[^\W\d_]+", text)}
        inside = end - len(text[start:end].lstrip())
        if not trace.encoding.special[place] and (inside, end) in runs:
            found.add(place)
    return found


def wishes(row: list[float], query: int, words: set[int]) -> tuple[bool, ...]:
    """The wishes of a row, the most important first, as the docstring of ``first_look`` has them."""
    first, second = sorted(range(len(row)), key=lambda key: -row[key])[:2]
    return (
        row[first] < 0.9,
        0.3 <= row[first] <= 0.7 and row[second] >= 0.1,
        first in words - {query},
        second in words - {query},
        abs(first - query) > 1,
        first < query,
    )


def check(trace: Trace) -> None:
    """No row of a layer that is looked at meets wishes that matter more, and the row is soft wherever one is."""
    look, words = first_look(trace), whole_words(trace)
    if not any(trace.encoding.special):
        words -= {0}  # the first token takes what heads have no use for
    of_layer = [
        {(head, query): wishes(rows[query], query, words) for head, rows in enumerate(layer) for query in words}
        for layer in trace.attention.tolist()
    ]
    met = of_layer[look.layer][look.head, look.query]
    assert not any(all(each) for layer in of_layer[: look.layer] for each in layer.values())
    assert met == max(each for layer in of_layer for each in layer.values())
    row = trace.attention[look.layer, look.head, look.query]
    if any(each[1] for layer in of_layer for each in layer.values()):
        assert 0.3 <= row.max() <= 0.7
    assert first_look_in(trace, look.layer, look.head) == look


# By day each text with one of the models.
CASES = [
    (model, text) for number, text in enumerate(TEXTS) for model in (SHIPPED if THOROUGH else [SHIPPED[number % 3]])
]


@pytest.mark.parametrize(("model", "text"), CASES, ids=lambda each: getattr(each, "name", each))
def test_the_first_row_of_every_example_is_soft(model: str, text: Example) -> None:
    trace = traced(model, text.text, text.pair)
    check(trace)
    look = first_look(trace)
    assert trace.layer(look.layer).attention[look.head, look.query].max() < 0.9


@pytest.mark.parametrize("toy", TOYS)
def test_the_first_row_of_a_toy_is_soft_where_one_is(toy: str) -> None:
    for sentence in generate(8, 8, 20, 0).sentences:
        check(lab.trace(TOYS[toy], as_text(sentence)))


@pytest.mark.parametrize("model", SHIPPED)
@pytest.mark.parametrize("text", ["a", "?", "!!! ???", "👩\u200d👩\u200d👧 2024", "Antidisestablishmentarianism"])
def test_a_text_without_words_to_choose_from_has_a_first_row_all_the_same(model: str, text: str) -> None:
    trace = traced(model, text)
    look = first_look(trace)
    assert 0 <= look.query < len(trace)
    assert 0 <= heaviest_key(trace, look.layer, look.head, look.query) < len(trace)


@pytest.mark.parametrize("model", SHIPPED)
def test_a_token_that_was_asked_about_has_the_row(model: str) -> None:
    """Among its rows in all heads, none meets wishes that matter more."""
    trace = traced(model, DEFAULT_TEXT)
    words = whole_words(trace) - {0}  # GPT-2's first token takes what heads have no use for
    for query in sorted(words):
        look = first_look(trace, query)
        met = {
            (layer, head): wishes(rows[query], query, words)
            for layer, heads in enumerate(trace.attention.tolist())
            for head, rows in enumerate(heads)
        }
        assert look.query == query
        assert met[look.layer, look.head] == max(met.values())


def test_the_heaviest_key_is_another_token_if_there_is_one() -> None:
    trace = traced("lab-gpt2", DEFAULT_TEXT)
    for layer, heads in enumerate(trace.attention.tolist()):
        for head, rows in enumerate(heads):
            for query, row in enumerate(rows):
                others = [weight for key, weight in enumerate(row) if key != query]
                key = heaviest_key(trace, layer, head, query)
                assert row[key] == max(others) if query else key == 0


def test_a_row_that_is_not_looked_at() -> None:
    trace = traced("lab-bert", DEFAULT_TEXT)
    for query in (-1, len(trace)):
        with pytest.raises(IndexError, match=f"rows 0 to {len(trace) - 1}"):
            first_look(trace, query)


@pytest.mark.parametrize("head", [-1, 8])
def test_a_head_that_is_not_there(head: int) -> None:
    with pytest.raises(IndexError, match="heads 0 to 7"):
        first_look_in(traced("lab-bert", DEFAULT_TEXT), 0, head)
