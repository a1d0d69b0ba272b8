"""The toys run through the lab's forward pass, agree with Hugging Face, and do what they were built for."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from lab.models.encoding import TextError
from lab.models.interventions import Interventions
from lab.models.loading import Checkpoint, LoadedModel
from lab.models.proof import prove
from lab.models.reference import reference
from lab.models.trace import trace
from lab.toy.data import as_text, generate
from lab.toy.models import CONSTRUCTED_HEADS, constructed_toy, dimension_labels, query_key_product, random_toy
from lab.toy.settings import SETTINGS, SettingError
from tests.thorough import examples

constructed, random = cache(constructed_toy), cache(random_toy)
SIZES = [(2, 2), (2, 32), (50, 2), (50, 32), (9, 8)]  # vocabulary, max_length: the corners and a usual one
TOYS: dict[str, Callable[[int, int], LoadedModel]] = {"random": random, "constructed": constructed}


@st.composite
def sentences(draw: st.DrawFn) -> tuple[tuple[int, int], tuple[int, ...]]:
    """A size and a sentence that fits it; few words make many repetitions."""
    vocabulary, max_length = size = draw(st.sampled_from(SIZES))
    words = st.integers(1, draw(st.integers(1, vocabulary)))
    return size, tuple(draw(st.lists(words, min_size=2, max_size=max_length)))


def _one_hot(values: tuple[int, ...], size: int) -> Tensor:
    return torch.eye(size)[list(values)]


def _expected_attention(sentence: tuple[int, ...]) -> Tensor:
    """(3, n, n): what the constructed heads would do if softmax could be perfectly sharp."""
    n = len(sentence)
    previous = torch.diag(torch.ones(n - 1), -1)
    previous[0] = 1 / n
    same = torch.tensor([[float(a == b) for b in sentence] for a in sentence])
    return torch.stack([previous, same / same.sum(-1, keepdim=True), torch.full((n, n), 1 / n)])


@settings(max_examples=examples(300))
@given(sentences())
def test_constructed_heads_attend_as_written_down(case: tuple[tuple[int, int], tuple[int, ...]]) -> None:
    size, sentence = case
    attention = trace(constructed(*size), as_text(sentence)).layer(0).attention
    expected = _expected_attention(sentence)

    # One matching key scores 10, the others 0: e^10 / (e^10 + n − 1) of the attention is on target.
    torch.testing.assert_close(attention, expected, atol=(len(sentence) - 1) * 2 * math.exp(-10), rtol=0)
    on_target = (attention * (expected > 0)).sum(-1)
    assert on_target.min() > 0.998


@pytest.mark.parametrize("size", SIZES)
def test_constructed_attention_of_one_token_is_one(size: tuple[int, int]) -> None:
    assert trace(constructed(*size), "a").layer(0).attention.flatten().tolist() == [1, 1, 1]


@given(sentences())
def test_constructed_embeddings_are_two_ones_and_heads_write_what_they_found(
    case: tuple[tuple[int, int], tuple[int, ...]],
) -> None:
    (vocabulary, max_length), sentence = case
    run = trace(constructed(vocabulary, max_length), as_text(sentence))
    token, position = _one_hot(sentence, vocabulary + 1), torch.eye(max_length)[: len(sentence)]
    found = _expected_attention(sentence) @ token
    layer = run.layer(0)
    empty = torch.zeros(len(sentence), layer.input.shape[1] - 4 * (vocabulary + 1) - max_length)

    rows = torch.cat([token, position, *found, empty], dim=1)
    entering = torch.cat([token, position, torch.zeros_like(rows[:, vocabulary + 1 + max_length :])], dim=1)
    torch.testing.assert_close(layer.input, entering, atol=1e-6, rtol=0)
    torch.testing.assert_close(layer.attention_residual, rows, atol=3e-3, rtol=0)
    # The second LayerNorm has the γ and β of the first and nothing is added between them.
    torch.testing.assert_close(layer.output, layer.attention_norm, atol=1e-5, rtol=0)


def test_constructed_output_is_restored_where_each_head_found_one_kind_of_token() -> None:
    layer = trace(constructed(9, 8), "d d d").layer(0)
    torch.testing.assert_close(layer.output, layer.attention_residual, atol=1e-5, rtol=0)


def test_constructed_heads_treat_unknown_words_as_one_word() -> None:
    run = trace(constructed(9, 8), "c cat j c")
    assert run.tokens == ("c", "[UNK]", "[UNK]", "c")
    assert run.layer(0).attention[1, 1].tolist() == pytest.approx([0, 0.5, 0.5, 0], abs=1e-3)


def test_previous_token_head_is_uniform_without_positions() -> None:
    run = trace(constructed(9, 8), "c e b e", interventions=Interventions(no_positions=True))
    previous, same, _ = run.layer(0).attention
    torch.testing.assert_close(previous, torch.full((4, 4), 0.25), atol=1e-5, rtol=0)
    assert same[1].tolist() == pytest.approx([0, 0.5, 0, 0.5], abs=1e-3)


@pytest.mark.parametrize("toy", TOYS)
@pytest.mark.parametrize("size", SIZES)
def test_every_step_is_that_of_hugging_face(toy: str, size: tuple[int, int]) -> None:
    model = TOYS[toy](*size)
    for sentence in generate(*size, count=5, seed=1).sentences:
        proof = prove(model, trace(model, as_text(sentence)))
        assert proof.passed, proof.first_failure
        assert {"attention", "ffn_output", "output"} <= {row.step for row in proof.rows}
    # The longest sentence, an unknown word (id 0, Hugging Face's usual padding id), and a pair.
    longest = as_text((*range(1, size[0] + 1),) * size[1])
    for text, pair in ((longest, None), ("a ?", None), ("a", "b")):
        proof = prove(model, trace(model, text, pair))
        assert proof.passed, proof.first_failure


@pytest.mark.parametrize("toy", TOYS)
def test_hugging_face_knows_every_tensor(toy: str) -> None:
    """``reference`` loads with ``strict=False``: a misspelt name would leave random weights in place."""
    model = TOYS[toy](9, 8)
    assert isinstance(model.source, Checkpoint)
    # The pooler is not among the steps; BertModel makes one of its own.
    theirs = {name: t for name, t in reference(model).state_dict().items() if not name.startswith("pooler.")}
    assert theirs.keys() == model.source.tensors.keys()
    assert all(torch.equal(tensor, model.source.tensors[name]) for name, tensor in theirs.items())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shape", [(1, 4), (4, 8), (12, 64)])
def test_random_attention_is_neither_uniform_nor_one_hot(size: tuple[int, int], shape: tuple[int, int]) -> None:
    texts = [as_text(sentence) for sentence in generate(*size, count=3, seed=0).sentences]
    ratios = []
    for seed in range(3):
        model = random(*size, *shape, seed=seed)
        for attention in (trace(model, text).layer(0).attention for text in texts):
            entropy = -torch.xlogy(attention, attention).sum(-1)
            ratios.append(entropy.mean().item() / math.log(attention.shape[-1]))
    assert 0.3 < sum(ratios) / len(ratios) < 0.9


def _same(one: LoadedModel, other: LoadedModel) -> bool:
    assert isinstance(one.source, Checkpoint)
    assert isinstance(other.source, Checkpoint)
    return all(torch.equal(tensor, other.source.tensors[name]) for name, tensor in one.source.tensors.items())


def test_a_seed_names_one_random_toy() -> None:
    state = torch.random.get_rng_state()
    assert _same(random_toy(9, 8, seed=1), random_toy(9, 8, seed=1))
    assert not _same(random_toy(9, 8, seed=1), random_toy(9, 8, seed=2))
    assert _same(constructed_toy(9, 8), constructed_toy(9, 8))
    assert torch.equal(torch.random.get_rng_state(), state), "another session's draws would change"


@pytest.mark.parametrize("name", ["vocabulary", "max_length", "heads", "head_width", "seed"])
def test_settings_are_accepted_up_to_their_bounds_and_refused_beyond(name: str) -> None:
    usual = {"vocabulary": 5, "max_length": 4, "heads": 2, "head_width": 4, "seed": 0}
    setting = SETTINGS[name]
    for good in (setting.low, setting.high):
        trace(random_toy(**{**usual, name: good}), "a b")
    for bad in (setting.low - 1, setting.high + 1):
        with pytest.raises(SettingError, match=f"{name} is {bad}"):
            random_toy(**{**usual, name: bad})
        if name in ("vocabulary", "max_length"):
            with pytest.raises(SettingError, match=f"{name} is {bad}"):
                constructed_toy(**{"vocabulary": 5, "max_length": 4, name: bad})


def test_ids_are_the_numbers_and_long_sentences_are_cut() -> None:
    run = trace(random(9, 4), "i a e e b")
    assert run.token_ids == (9, 1, 5, 5)
    assert run.encoding.cut == 1
    assert run.offsets == ((0, 1), (2, 3), (4, 5), (6, 7))
    assert not any(run.encoding.special)
    with pytest.raises(TextError):
        trace(random(9, 4), "  ")


@pytest.mark.parametrize("toy", TOYS)
@pytest.mark.parametrize("size", SIZES)
def test_query_key_product_gives_the_scores(toy: str, size: tuple[int, int]) -> None:
    model = TOYS[toy](*size)
    layer = trace(model, as_text(generate(*size, count=1, seed=2).sentences[0])).layer(0)
    for head in range(model.config.heads):
        product = torch.tensor(query_key_product(model, head).to_numpy())
        torch.testing.assert_close(layer.input @ product @ layer.input.T, layer.scores[head], atol=1e-3, rtol=1e-4)
    with pytest.raises(IndexError, match="has heads 0 to"):
        query_key_product(model, model.config.heads)
    with pytest.raises(IndexError):
        query_key_product(model, -1)


def test_query_key_product_of_constructed_heads_can_be_read() -> None:
    model = constructed(3, 4)
    previous, same, average = (query_key_product(model, head) for head in range(len(CONSTRUCTED_HEADS)))
    match = pytest.approx(10 * math.sqrt(model.config.head_width))

    def cells(product: Any) -> dict[tuple[str, str], float]:
        return {key: value for key, value in product.stack().items() if value}

    assert cells(previous) == {(f"position {i}", f"position {i - 1}"): match for i in (1, 2, 3)}
    tokens = ("token [UNK]", "token a", "token b", "token c")
    assert cells(same) == {(token, token): match for token in tokens}
    assert cells(average) == {}


@pytest.mark.parametrize("toy", TOYS)
@pytest.mark.parametrize("size", SIZES)
def test_each_dimension_has_its_own_label(toy: str, size: tuple[int, int]) -> None:
    model = TOYS[toy](*size)
    labels = dimension_labels(model)
    assert len(labels) == len(set(labels)) == model.config.width


def test_labels_name_what_the_dimensions_hold() -> None:
    run = trace(constructed(9, 8), "c e b")
    labels = dimension_labels(run.model)

    def held(token: int) -> list[str]:
        row = run.layer(0).attention_residual[token]
        return [label for label, value in zip(labels, row.tolist(), strict=True) if value > 0.01]

    third = [f"average: token {word}" for word in "bce"]
    assert held(2) == ["token b", "position 2", "previous token: token e", "same token: token b", *third]
