"""What the figures are said to mean: each number is computed again by torch, and each claim must hold.

Over the examples of the course and both models that ship.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from torch.nn.functional import cosine_similarity

import lab
from lab.analysis.layers.embeddings import new_order, reordered
from lab.analysis.layers.positions import BASE, sinusoids
from lab.analysis.layers.rotary import cosines
from lab.analysis.words.neighbours import nearest_in_table
from lab.course.sentences.examples import EXAMPLES
from lab.course.sentences.uses import place_of
from lab.course.words import plain, signed
from lab.lessons.embeddings import learned_or_computed, like_words, position_lab, rotary, vectors
from lab.models.encoding import word_of
from lab.models.interventions import Interventions
from lab.models.trace import Trace, trace_encoding
from lab.models.twin import random_twin
from lab.questions.returning import Spot
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
            said = shown(vectors.said(trace, token))
            found = re.search(r" is token (\d+) and token (\d+). It gets the same row", said)
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
            said = shown(like_words.said(trace, token))
            row = table[trace.token_ids[token]]
            told = numbers(said)[:3]
            named = re.findall("“([^”]+)”", said)[1:4]
            ids = [next(i for i in range(len(table)) if word_of(trace.model.tokenizer, i) == word) for word in named]
            expected = cosine_similarity(table[ids].double(), row.double()[None])
            assert told == pytest.approx(expected.tolist(), abs=0.006) and told == sorted(told, reverse=True)


def test_what_is_no_word_is_said_to_be_none() -> None:
    trace = lab.trace(lab.load_model("lab-bert"), "The sleepy cat sat.")
    for token, whole in ((0, False), (3, False), (4, True)):
        assert ("is not a whole word" in like_words.said(trace, token)) != whole
    toy = constructed_toy(2, 4)
    assert "No row is clearly nearest" in like_words.said(lab.trace(toy, "a b"), 0)


def test_the_order_of_tokens_is_told_as_the_runs_say(traces: list[Trace]) -> None:
    for trace in traces[:2]:
        said = position_lab.said(trace, "reversed")
        causal = trace.model.config.causal
        assert ("notices the new order" in said) == causal and ("cannot tell this order" in said) != causal
        assert ("mask" in position_lab.why(trace, "reversed")) == causal


@pytest.mark.parametrize("name", [*MODELS, "random"])
def test_near_positions_are_called_alike_only_where_they_are(name: str) -> None:
    model = random_twin(lab.load_model("lab-bert"), 0) if name == "random" else lab.load_model(name)
    trace = lab.trace(model, "The cat sat.")
    table = model.weights.embeddings.position
    assert table is not None
    rows = table[:64].double().numpy()
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    near, *rest = (float(np.mean(np.sum(unit[k:] * unit[: len(unit) - k], axis=1))) for k in range(1, 64))
    said = shown(learned_or_computed.said(trace, 64, 64, 1e4)).partition(" For computed")[0]
    assert numbers(said) == pytest.approx([near, max(rest)], abs=0.006)
    assert ("are the most similar" in said) == (near - max(rest) > 0.05)


@pytest.mark.parametrize("name", [*MODELS, "random"])
def test_the_first_place_is_called_an_exception_only_if_its_neighbour_is_far(name: str) -> None:
    model = random_twin(lab.load_model("lab-bert"), 0) if name == "random" else lab.load_model(name)
    table = model.weights.embeddings.position
    assert table is not None
    rows = table[:64].double().numpy()
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    most, usual = float((unit[1:] @ unit[0]).max()), float(np.mean(np.sum(unit[2:] * unit[1:-1], axis=1)))
    said = shown(learned_or_computed.stands_apart(lab.trace(model, "The cat sat."), 64))
    assert bool(said) == (usual - most >= 0.3) and (not said or f"at most {signed(most)}" in said)
    assert not said or ("[CLS]" in said) == (name != "lab-gpt2")


def test_turned_words_keep_their_cosine(traces: list[Trace]) -> None:
    said = shown(rotary.said(traces[0], (2, 3), 16, 1e4))
    rounding = float(re.findall(r"rounding \(\*\*([^*]+)\*\*\)", said)[0])
    assert rounding < 1e-5
    assert all(each > 0.01 for each in numbers(said.partition("the cosine varies by")[2]))


def test_a_negative_cosine_of_turned_words_has_a_minus(traces: list[Trace]) -> None:
    """The pair of tokens whose turned vectors point apart most."""
    found = []
    for trace in traces:
        n = len(trace)
        pairs = {(q, k): float(cosines(trace, (q, k), "rotary", 8, BASE)[0, 7]) for q in range(n) for k in range(n)}
        (query, key), least = min(pairs.items(), key=lambda pair: pair[1])
        asked = rotary.moved_together(Spot(trace, 0, 0, query, key))
        assert asked is not None
        why = asked.options[0].why
        found.append(least)
        assert least > 0 or (signed(least, 3) in why and not re.search(r"(?<!\w)-\d", why))
    assert min(found) < -0.01


@pytest.mark.parametrize("name", MODELS)
def test_questions_about_words_have_the_run_s_answers(name: str) -> None:
    model = lab.load_model(name)
    trace = lab.trace(model, "They came with three dogs.")
    token = place_of(trace.encoding, "three")
    assert token is not None
    question = like_words.nearest_word(Spot(trace, 0, 0, token, token))
    assert question is not None
    assert any(number in question.options[question.answer].text for number in ("two", "four"))
    special = len(trace) - 1 if name == "lab-gpt2" else 0
    assert like_words.nearest_word(Spot(trace, 0, 0, special, 0)) is None
    asked = position_lab.who_bit_whom(Spot(trace, 0, 0, token, token))
    assert asked is not None and asked.options[asked.answer].text.startswith("No" if name == "lab-gpt2" else "Yes")
    no_positions = Interventions(no_positions=True)
    dogs = [lab.trace(model, text, None, no_positions) for text in ("The dog bit the man.", "The man bit the dog.")]
    first, second = (each.output[place_of(each.encoding, "dog") or 0] for each in dogs)
    assert ((first - second).norm() / first.norm() < 1e-3) == (name != "lab-gpt2")


@pytest.mark.parametrize("name", MODELS)
def test_the_cosine_is_worked_out_from_the_two_rows(name: str) -> None:
    """The nearest word, its dot product, both lengths and the quotient, computed again by numpy in double precision."""
    model = lab.load_model(name)
    trace = lab.trace(model, "They came with three dogs.")
    token = place_of(trace.encoding, "three")
    assert token is not None
    table = model.weights.embeddings.token.double().numpy()
    near = like_words.nearest_row(model, trace.token_ids[token])
    assert near is not None
    best = nearest_in_table(model, trace.token_ids[token], 1).nearest[0]
    assert word_of(model.tokenizer, near) == best.word
    a, b = table[trace.token_ids[token]], table[near]
    told = [float(each) for each in re.findall(r"-?\d+\.\d+", like_words.worked(trace, token))]
    lengths = np.linalg.norm(a), np.linalg.norm(b)
    assert told == pytest.approx([a @ b, *lengths, a @ b / (lengths[0] * lengths[1])], abs=0.006)
    assert told[-1] == pytest.approx(best.cosine, abs=0.006)


def test_a_toy_knows_no_dog_and_no_nearest_word() -> None:
    trace = lab.trace(constructed_toy(4, 6), "a b c a")
    spot = Spot(trace, 0, 0, 0, 1)
    assert like_words.nearest_word(spot) is None and position_lab.who_bit_whom(spot) is None


@pytest.mark.parametrize("name", MODELS)
def test_the_last_vectors_of_a_token_in_both_orders_are_those_of_two_runs(name: str) -> None:
    """Without places, a model that sees all tokens gives a token the same vector wherever it is."""
    model = lab.load_model(name)
    trace = lab.trace(model, "The dog bit the man.")
    there = trace_encoding(model, reordered(trace.encoding, new_order("reversed", len(trace))))
    for token in (1, 2):
        found = position_lab.before_and_after(trace, "reversed", token)
        here, after = found[position_lab.WITH]
        assert here == pytest.approx(trace.output[token].numpy(), abs=1e-5)
        assert after == pytest.approx(there.output[len(trace) - 1 - token].numpy(), abs=1e-5)
        before, after = found[position_lab.WITHOUT]
        assert np.allclose(before, after, atol=1e-4) == (name != "lab-gpt2")
        assert np.abs(np.subtract(*found[position_lab.WITH])).max() > 0.01
        if name == "lab-gpt2":
            assert np.allclose(*found[position_lab.NO_MASK], atol=1e-3)
        assert len(position_lab.last_vectors(trace, "reversed", token).table()) == 2 * len(found)


@pytest.mark.parametrize("name", [*MODELS, "random"])
def test_stripes_are_explained_only_where_the_cosine_falls_and_rises_again(name: str) -> None:
    model = random_twin(lab.load_model("lab-bert"), 0) if name == "random" else lab.load_model(name)
    trace = lab.trace(model, "The cat sat.")
    table = model.weights.embeddings.position
    assert table is not None
    rows = table[model.config.position_offset :][:64].double().numpy()
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    mean = [float(np.mean(np.sum(unit[k:] * unit[: 64 - k], axis=1))) for k in range(64)]
    said = shown(learned_or_computed.stripes(trace, 64))
    if not said:
        assert max(mean[far] - min(mean[: far + 1]) for far in range(49)) < 0.31
        return
    low, high = (int(each) for each in re.findall(r"that are (\d+)", said))
    assert numbers(said) == pytest.approx([mean[low], mean[high]], abs=0.006) and low < high
    assert mean[high] - mean[low] > 0.29 and mean[low] == pytest.approx(min(mean[:high]))
    assert high == 48 or mean[high] >= mean[high + 1] - 1e-9


def test_each_place_is_unique_and_one_further_is_a_turn() -> None:
    rows = sinusoids(np.arange(64), 64, 1e4)
    one, other, distance = learned_or_computed.apart(rows)
    every = np.linalg.norm(rows[:, None] - rows[None], axis=-1)
    np.fill_diagonal(every, np.inf)
    assert distance == pytest.approx(every.min()) and every[one, other] == pytest.approx(every.min())
    assert learned_or_computed.shift_error(64, 64, 1e4, 3) < 1e-12
    assert learned_or_computed.apart(np.zeros((3, 2)))[2] == 0
