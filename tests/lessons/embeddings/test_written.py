"""What the figures are said to mean: each number is computed again by torch, and each claim must hold.

Over the examples of the course and both models that ship.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from torch.nn.functional import cosine_similarity

import lab
from lab.analysis.layers.embeddings import Order, new_order, reordered
from lab.analysis.layers.positions import BASE, cosines, sinusoids
from lab.analysis.words.neighbours import nearest_in_table
from lab.course.sentences.examples import EXAMPLES
from lab.course.sentences.looks import STORY_TEXT
from lab.course.words import place_of, plain
from lab.lessons.embeddings import learned_or_computed, like_words, position_lab, rotary
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.encoding import word_of
from lab.models.interventions import Interventions
from lab.models.trace import Trace, trace_encoding
from lab.models.twin import random_twin
from tests.thorough import one_by_day
from tests.told import numbers

MODELS = ("lab-minilm", "lab-bert", "lab-gpt2")
STORY = lab.trace(lab.load_model(DEFAULT_MODEL), STORY_TEXT)
PICKED = [
    each
    for each in EXAMPLES
    if each.name in ("A pronoun", "Two meanings of bank", "Repeated words", "A pair that follows")
]


def shown(text: str) -> str:
    return re.sub("[\u2068\u2069]", "", plain(text)).replace("−", "-")


@pytest.fixture(scope="module", params=MODELS)
def traces(request: pytest.FixtureRequest) -> list[Trace]:
    model = lab.load_model(request.param)
    return [lab.trace(model, each.text, each.pair or None) for each in PICKED]


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


def test_the_order_of_tokens_is_told_as_the_runs_say(traces: list[Trace]) -> None:
    for trace in traces[:2]:
        said, causal = position_lab.said(trace, "reversed"), trace.model.config.causal
        assert (position_lab.CHANGED in said) == causal == position_lab.hides(trace)
        assert (position_lab.KEPT in said) != causal and "france" not in said
    told = position_lab.said(STORY, "shuffled")
    shares = position_lab.without(STORY).logits(6)[0].double().softmax(-1)
    for word in ("france", "paris"):
        assert f"*{word}* ({float(shares[STORY.model.tokenizer.token_to_id(word)]):.2f})" in told


@pytest.mark.parametrize("order", ["reversed", "shuffled", "moved on by one"])
def test_without_places_the_words_in_the_blank_are_the_same_in_any_order(order: Order) -> None:
    there = trace_encoding(
        STORY.model, reordered(STORY.encoding, new_order(order, len(STORY))), Interventions(no_positions=True)
    )
    place = position_lab.blank_of(there)
    assert place is not None
    shares = there.logits(place)[0].double().softmax(-1)
    drawn = position_lab.best_words(STORY, 6, places=False).table()
    assert drawn.iloc[:, 0].tolist() == pytest.approx(shares.topk(5).values.tolist(), abs=1e-4)
    assert position_lab.best_words(STORY, 6, places=True).table().iloc[0, 0] == pytest.approx(0.376, abs=1e-3)


@pytest.mark.parametrize("name", [*MODELS, "random"])
def test_near_positions_are_called_alike_only_where_they_are(name: str) -> None:
    model = random_twin(lab.load_model("lab-bert"), 0) if name == "random" else lab.load_model(name)
    trace = lab.trace(model, "The cat sat.")
    table = model.weights.embeddings.position
    assert table is not None
    rows = table[:64].double().numpy()
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    near, *rest = (float(np.mean(np.sum(unit[k:] * unit[: len(unit) - k], axis=1))) for k in range(1, 64))
    said = shown(learned_or_computed.said(trace, 64, 64, 1e4)).partition(" Computed")[0]
    assert numbers(said) == pytest.approx([near, max(rest)], abs=0.006)
    if name == DEFAULT_MODEL:  # as is written of it
        assert near > max(rest) + 0.1 and (unit[1:] @ unit[0]).max() < 0.25


def test_turned_words_keep_their_cosine(traces: list[Trace]) -> None:
    said = shown(rotary.said(traces[0], (2, 3), 16, 1e4))
    rounding = float(re.findall(r"rounding \(\*\*([^*]+)\*\*\)", said)[0])
    assert rounding < 1e-5
    assert all(each > 0.01 for each in numbers(said.partition("the cosine varies by")[2]))


@one_by_day
def test_turned_words_keep_their_cosine_if_both_move_on(traces: list[Trace]) -> None:
    """The right answer of ``moved_together``, for every pair of tokens, in double precision."""
    asked = rotary.moved_together.make()
    assert asked is not None and asked.options[asked.answer].text == "It stays the same"
    for trace in traces:
        n = len(trace)
        for pair in ((q, k) for q in range(n) for k in range(n)):
            found = cosines(trace, pair, "rotary", 8, BASE)
            assert found[0, 2] == pytest.approx(found[5, 7], abs=1e-5)


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


def test_each_place_is_unique_and_one_further_is_a_turn() -> None:
    """The formula that the step shows, worked out by numpy: the same turn leads from any place to the next."""
    width, base = 64, 1e4
    rows, angle = sinusoids(np.arange(65), width, base), base ** (-2 * np.arange(width // 2) / width)
    sine, cosine = rows[:-1, 0::2], rows[:-1, 1::2]
    turned = np.stack(
        [sine * np.cos(angle) + cosine * np.sin(angle), cosine * np.cos(angle) - sine * np.sin(angle)], axis=-1
    )
    assert np.abs(turned.reshape(64, width) - rows[1:]).max() < 1e-12
