"""What the figures are said to mean: each number is computed again by torch, and each claim must hold.

Over the examples of the course and both models that ship.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from torch.nn.functional import cosine_similarity

import lab
from lab.analysis.words.neighbours import places_in
from lab.course.sentences.examples import EXAMPLES
from lab.course.sentences.two_meanings import TWO_MEANINGS
from lab.course.words import plain
from lab.lessons.embeddings import meanings, word_checks
from lab.lessons.embeddings.like_words import offered, place_of, same_meaning, uses_of
from lab.lessons.embeddings.meanings import Use
from lab.models.encoding import word_of
from lab.models.interventions import Interventions
from lab.models.trace import Trace, trace_encoding
from lab.models.twin import random_twin
from lab.text.bundled import bundled_sentences
from lab.toy.models import constructed_toy

MODELS = ("lab-minilm", "lab-bert", "lab-gpt2")
PICKED = [
    each
    for each in EXAMPLES
    if each.name in ("A pronoun", "Two meanings of bank", "Repeated words", "A pair that follows")
]


def shown(text: str) -> str:
    return re.sub("[\u2068\u2069]", "", plain(text)).replace("−", "-")


def numbers(text: str) -> list[float]:
    return [float(each) for each in re.findall(r"-?\d+\.\d+", text)]


@pytest.fixture(scope="module", params=MODELS)
def traces(request: pytest.FixtureRequest) -> list[Trace]:
    model = lab.load_model(request.param)
    return [lab.trace(model, each.text, each.pair or None) for each in PICKED]


def test_a_word_that_occurs_twice_is_found_and_has_one_row(traces: list[Trace]) -> None:
    twice = 0
    for trace in traces:
        for token in range(0, len(trace), 3):
            said = shown(meanings.rows(trace, token))
            found = re.search(r" is token (\d+) and token (\d+), and gets the same row", said)
            if found is None:
                assert "wherever it occurs" in said and trace.token_ids.count(trace.token_ids[token]) == 1
                words = [i for i, special in zip(trace.token_ids, trace.encoding.special, strict=True) if not special]
                assert trace.encoding.special[token] or len(set(words)) == len(words)
                continue
            twice += 1
            first, second = (int(each) - 1 for each in found.groups())
            assert trace.token_ids[first] == trace.token_ids[second]
            assert trace.embeddings.token[first].equal(trace.embeddings.token[second])
    assert twice


def test_the_named_neighbours_have_the_largest_cosines(traces: list[Trace]) -> None:
    for trace in traces[:2]:
        table = trace.model.weights.embeddings.token
        for token in (1, 3, len(trace) - 2):
            said = shown(meanings.like_words(trace, token))
            row = table[trace.token_ids[token]]
            told = numbers(said)[:3]
            named = re.findall("“([^”]+)”", said)[1:4]
            ids = [next(i for i in range(len(table)) if word_of(trace.model.tokenizer, i) == word) for word in named]
            expected = cosine_similarity(table[ids].double(), row.double()[None])
            assert told == pytest.approx(expected.tolist(), abs=0.006) and told == sorted(told, reverse=True)


def test_what_is_no_word_is_said_to_be_none() -> None:
    trace = lab.trace(lab.load_model("lab-bert"), "The sleepy cat sat.")
    for token, whole in ((0, False), (3, False), (4, True)):
        assert ("is not a whole word" in meanings.like_words(trace, token)) != whole
    toy = constructed_toy(2, 4)
    assert "No row is clearly nearest" in meanings.like_words(lab.trace(toy, "a b"), 0)


@pytest.mark.parametrize("name", MODELS)
def test_every_word_offered_is_one_token_and_its_two_uses_are_told_truly(name: str) -> None:
    model = lab.load_model(name)
    known = offered(model)
    assert {"fall", "second", "mean", "bank", "left"} <= known.keys()
    assert ("March" in known) == (name != "lab-gpt2")
    for word in known.values():
        first, second = (lab.trace(model, text) for text in (word.first, word.second))
        here, there = place_of(first.encoding, word.word), place_of(second.encoding, word.word)
        assert here is not None and there is not None and first.token_ids[here] == second.token_ids[there]
        last = torch.cosine_similarity(first.output[here], second.output[there], dim=0).item()
        said = shown(meanings.two_uses(Use(first, here), Use(second, there)))
        assert numbers(said) == pytest.approx([last], abs=0.006)
        if "still the same" not in said:
            assert ("hardly tell the two meanings apart" in said) == (last >= 0.9)
            assert ("have moved the two vectors apart" in said) == (last < 0.9)


@pytest.mark.parametrize("name", MODELS)
def test_two_meanings_are_measured_by_two_uses_of_one(name: str) -> None:
    model = lab.load_model(name)
    for word in offered(model).values():
        first, second = uses_of(model, word)
        alike = same_meaning(first, word)
        assert alike is not None and alike.trace.token_ids[alike.token] == first.trace.token_ids[first.token]
        own, other, again = (each.trace.output[each.token] for each in (first, second, alike))
        last, same = (cosine_similarity(own, each, dim=0).item() for each in (other, again))
        said = shown(meanings.two_uses(first, second, (), alike))
        assert numbers(said) == pytest.approx([last, same], abs=0.006)
        if "still the same" not in said:
            assert ("does not tell the two meanings apart" in said) == (same - last <= 0.05)


def test_the_neighbours_that_are_named_are_the_nearest_words_of_the_texts() -> None:
    """Found once more by numpy, over every word of the lab's texts; *bank* next to *money* is a surprise."""
    model = lab.load_model("lab-minilm")
    words = places_in(model, bundled_sentences())
    for name in ("March", "bank"):
        first, second = uses_of(model, offered(model)[name])
        said = shown(meanings.two_uses(first, second))
        lists = [
            set(re.findall("“([^”]+)”", part.partition(" are ")[2]))
            for part in re.split("; nearest to the second|\\. So", said)[:2]
        ]
        for use, named in zip((first, second), lists, strict=True):
            unit = words.vectors / np.linalg.norm(words.vectors, axis=1, keepdims=True)
            order = np.argsort(-unit @ use.trace.output[use.token].numpy())
            nearest = list(dict.fromkeys(word_of(model.tokenizer, words.token_ids[at]) for at in order))
            nearest = [each for each in nearest if each.lower() != name.lower()]
            assert named <= set(nearest[:6])
    assert "puts the second “bank”, too, next to “river”" in said


def test_two_equal_vectors_are_not_told_apart() -> None:
    first, _ = uses_of(lab.load_model("lab-bert"), TWO_MEANINGS[0])
    assert "hardly tell the two meanings apart" in meanings.two_uses(first, first)


def test_the_order_of_tokens_is_told_as_the_runs_say(traces: list[Trace]) -> None:
    for trace in traces[:2]:
        said = meanings.reordered(trace, "reversed")
        causal = trace.model.config.causal
        assert ("notices the new order" in said) == causal and ("cannot tell this order" in said) != causal
        assert ("mask" in meanings.why_reordered(trace, "reversed")) == causal


@pytest.mark.parametrize("name", [*MODELS, "random"])
def test_near_positions_are_called_alike_only_where_they_are(name: str) -> None:
    model = random_twin(lab.load_model("lab-bert"), 0) if name == "random" else lab.load_model(name)
    trace = lab.trace(model, "The cat sat.")
    table = model.weights.embeddings.position
    assert table is not None
    rows = table[:64].double().numpy()
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    near, *rest = (float(np.mean(np.sum(unit[k:] * unit[: len(unit) - k], axis=1))) for k in range(1, 64))
    said = shown(meanings.positions(trace, 64, 64, 1e4)).partition(" For computed")[0]
    assert numbers(said) == pytest.approx([near, max(rest)], abs=0.006)
    assert ("are the most alike" in said) == (near - max(rest) > 0.05)


def test_turned_words_keep_their_cosine(traces: list[Trace]) -> None:
    said = shown(meanings.turned(traces[0], (2, 3), 16, 1e4))
    rounding = float(re.findall(r"rounding \(\*\*([^*]+)\*\*\)", said)[0])
    assert rounding < 1e-5
    assert all(each > 0.01 for each in numbers(said.partition("the cosine varies by")[2]))


@pytest.mark.parametrize("name", MODELS)
def test_questions_about_words_have_the_run_s_answers(name: str) -> None:
    model = lab.load_model(name)
    trace = lab.trace(model, "They came with three dogs.")
    token = place_of(trace.encoding, "three")
    assert token is not None
    question = word_checks.nearest_word(trace, token)
    assert question is not None
    assert any(number in question.options[question.answer].text for number in ("two", "four"))
    assert word_checks.nearest_word(trace, len(trace) - 1 if name == "lab-gpt2" else 0) is None
    bitten = [lab.trace(model, text) for text in ("The dog bit the man.", "The man bit the dog.")]
    plain_uses = [Use(each, place_of(each.encoding, "dog") or 0) for each in bitten]
    without = [
        Use(trace_encoding(model, use.trace.encoding, Interventions(no_positions=True)), use.token)
        for use in plain_uses
    ]
    asked = word_checks.who_bit_whom(plain_uses, without)
    assert asked is not None and asked.options[asked.answer].text.startswith("No" if name == "lab-gpt2" else "Yes")
    apart = word_checks.where_equal(uses_of(model, offered(model)["fall"]))
    assert apart is not None and "not after the last layer" in apart.options[apart.answer].text
    assert word_checks.where_equal(uses_of(model, offered(model)["fall"])[:1]) is None
