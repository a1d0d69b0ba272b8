"""Sums of words, computed again by torch over the rows of the token table; what is said of them must hold."""

from __future__ import annotations

import re
from functools import cache

import pytest
import torch
from torch.nn.functional import normalize

import lab
from lab.analysis.words.neighbours import is_whole
from lab.course.words import plain
from lab.lessons.embeddings import word_sums
from lab.models.encoding import word_of
from lab.models.loading import LoadedModel
from lab.toy.models import constructed_toy

MODELS = ("lab-minilm", "lab-bert", "lab-gpt2")
Question = tuple[str, str, str, str]


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest) -> LoadedModel:
    return lab.load_model(request.param)


@cache
def whole(model: LoadedModel) -> list[int]:
    return [i for i in range(model.tokenizer.get_vocab_size()) if is_whole(model.tokenizer, i)]


def asked(model: LoadedModel) -> list[Question]:
    """The questions whose words are each one token for the tokenizer."""
    return [
        each
        for each in word_sums.QUESTIONS
        if all(len(model.tokenizer.encode(f" {word}", add_special_tokens=False).ids) == 1 for word in each)
    ]


def token(model: LoadedModel, word: str) -> int:
    """A word as the tokenizer itself cuts it, in the middle of a sentence."""
    (found,) = model.tokenizer.encode(f" {word}", add_special_tokens=False).ids
    return int(found)


@cache
def directions(model: LoadedModel) -> torch.Tensor:
    """The rows of whole words in double precision and of length 1, once for all questions."""
    return normalize(model.weights.embeddings.token[whole(model)].double())


def cosines(model: LoadedModel, vector: torch.Tensor) -> torch.Tensor:
    """Of every whole word with ``vector``."""
    return directions(model) @ normalize(vector.double(), dim=0)


@cache
def ranks(model: LoadedModel, question: Question) -> tuple[int, int, int]:
    """The expected word's place with nothing left out, without the question's words, near one of them alone."""
    a, b, c, expected = (token(model, word) for word in question)
    table, words = model.weights.embeddings.token, whole(model)
    near_sum, near_first, near_third = (
        cosines(model, vector) for vector in (table[a].double() - table[b] + table[c], table[a], table[c])
    )
    others = torch.tensor([i not in (a, b, c) for i in words])
    own = words.index(expected)

    def place(near: torch.Tensor, among: torch.Tensor) -> int:
        return 1 + int((near[among] > near[own]).sum())

    return (
        place(near_sum, torch.ones_like(others)),
        place(near_sum, others),
        min(place(near_first, others), place(near_third, others)),
    )


def test_places_are_those_of_the_rows(model: LoadedModel) -> None:
    for question in asked(model)[::3]:
        _, without, alone = ranks(model, question)
        said = plain(word_sums.meaning(model, question))
        told = [int(each.replace(",", "")) for each in re.findall(r"is number ([\d,]+)", said)]
        assert told == [without, alone]
        assert ("the sum comes nearer" in said) == (without < alone)


def test_the_nearest_is_named_and_whether_it_is_a_word_of_the_sum(model: LoadedModel) -> None:
    table, seen = model.weights.embeddings.token, set()
    words = whole(model)
    for question in asked(model):
        a, b, c, _ = (token(model, word) for word in question)
        near_sum = cosines(model, table[a].double() - table[b] + table[c])
        best = words[int(near_sum.argmax())]
        said = plain(word_sums.meaning(model, question)).replace("\u2068", "").replace("\u2069", "")
        assert f"the nearest to the sum is “{word_of(model.tokenizer, best)}” (cosine {near_sum.max():.2f})" in said
        assert ("a word of the sum itself" in said) == (best in (a, b, c))
        seen.add(best in (a, b, c))
    assert seen == {True, False}


def test_the_counts_over_all_questions_are_counted_again(model: LoadedModel) -> None:
    found = [ranks(model, question) for question in asked(model)]
    said = word_sums.in_general(model)
    assert said is not None and f"For {len(found)} of them, " in said
    assert len(found) > 10
    told = [int(each) for each in re.findall(r"(?:nearest|third) in (\d+)", plain(said))]
    assert told == [sum(each[at] == 1 for each in found) for at in range(3)]


def test_the_figure_leaves_nothing_out(model: LoadedModel) -> None:
    table = word_sums.near_sum(lab.trace(model, "A king."), "king", "man", "woman").table()
    assert len(table) == word_sums.NEAREST
    assert table.index[0].startswith("• ") and table.index[0].endswith("king")


def test_the_expected_word_is_in_the_figure_with_its_place(model: LoadedModel) -> None:
    for question in asked(model)[::3]:
        index = list(word_sums.near_sum(lab.trace(model, "A king."), *question).table().index)
        whole_place, _, _ = ranks(model, question)
        far = whole_place > word_sums.NEAREST
        assert index[-1] == f"… {question[3]}" if far else any(question[3].lower() in each.lower() for each in index)
        assert len(index) == word_sums.NEAREST + far


def test_words_that_are_no_token_are_told() -> None:
    toy = constructed_toy(8, 8)
    assert word_sums.missing(toy, ("king", "man")) == ["king", "man"]
    assert word_sums.in_general(toy) is None
    with pytest.raises(ValueError, match="king"):
        word_sums.meaning(toy, ("king", "man", "woman"))
