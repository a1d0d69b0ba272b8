"""What attention must satisfy whatever the text: sums, masks, decomposition, permutation."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from lab.models.encoding import Encoding
from lab.models.forward import gelu, layer_norm, rotate
from lab.models.interventions import Interventions
from lab.models.layer_trace import LayerTrace
from lab.models.trace import trace, trace_encoding
from lab.models.weights import Norm
from tests.checkpoints import CORPUS, HEADS, LAYERS, WIDTH, WINDOW, Family
from tests.models.conftest import HuggingFace, LabModel
from tests.models.reference import HEAD_WIDTH, PAIR, SENTENCE, Theirs, close, words

TEXTS = st.lists(st.sampled_from(sorted(set(" ".join(CORPUS).split()))), min_size=1, max_size=12).map(" ".join)


@settings(max_examples=15)
@given(text=TEXTS, pair=st.none() | TEXTS)
def test_each_query_spends_exactly_one(lab_model: LabModel, family: Family, text: str, pair: str | None) -> None:
    attention = trace(lab_model(family), text, pair).attention
    close(attention.sum(-1), torch.ones(attention.shape[:-1]), 1e-5)
    assert (attention >= 0).all()


@pytest.mark.parametrize("count", [1, 7, 300])
def test_gpt2_never_looks_ahead_and_the_others_do(lab_model: LabModel, family: Family, count: int) -> None:
    run = trace(lab_model(family), words(count))
    above = run.attention.triu(1)
    if family == "gpt2":
        assert (above == 0).all()
        assert (run.attention.diagonal(dim1=-2, dim2=-1) > 0).all()
        ahead = run.layer(0).scaled_scores.triu(1)
        assert (ahead[:, *torch.triu_indices(len(run), len(run), 1)] == -torch.inf).all()
    else:
        assert (above.sum((-1, -2)) > 0).all()


def _value_vectors(layer: LayerTrace, theirs: Theirs, number: int) -> Tensor:
    """f(x) = (x·W_V + b_V)·W_O of every head and token, (H, n, d), from Hugging Face's parameters."""
    x = layer.input
    if theirs.family in ("gpt2", "modernbert"):
        x = theirs.part("", "", "ln_1", "attn_norm", number)(x)
    weight, *biased = theirs.value_parameters(number)
    bias = biased[0] if biased else torch.zeros(WIDTH)
    w_o = theirs.projection_inputs(number)
    heads = [slice(head * HEAD_WIDTH, (head + 1) * HEAD_WIDTH) for head in range(HEADS)]
    return torch.stack([(x @ weight[own].T + bias[own]) @ w_o[own] for own in heads])


@pytest.mark.parametrize("number", range(LAYERS))
def test_attention_output_is_the_sum_of_what_each_head_takes_from_each_token(
    lab_model: LabModel, hugging_face: HuggingFace, family: Family, number: int
) -> None:
    layer, theirs = trace(lab_model(family), SENTENCE, PAIR).layer(number), hugging_face(family)
    with torch.inference_mode():
        taken = torch.einsum("hij,hjd->id", layer.attention, _value_vectors(layer, theirs, number))
        bias = dict(theirs.output_projection(number).named_parameters()).get("bias", torch.zeros(WIDTH))
        close(layer.attention_output, taken + bias, 1e-5)


def test_head_contribution_is_the_length_of_each_weighted_vector(
    lab_model: LabModel, hugging_face: HuggingFace, family: Family
) -> None:
    layer = trace(lab_model(family), "The cat sat on it").layer(1)
    with torch.inference_mode():
        vectors = _value_vectors(layer, hugging_face(family), 1)
    ours, n = layer.head_contribution, layer.input.shape[0]
    assert ours.shape == (HEADS, n, n)
    for head in range(HEADS):
        for i in range(n):
            for j in range(n):
                weighted = float(layer.attention[head, i, j]) * vectors[head, j].double()
                assert float(ours[head, i, j]) == pytest.approx(float((weighted**2).sum() ** 0.5), abs=1e-5)


def test_layer_norm_and_gelu_are_their_formulas() -> None:
    x = torch.linspace(-6, 6, 4 * 16).view(4, 16)
    gamma, beta = torch.linspace(0.5, 2, 16), torch.linspace(-1, 1, 16)
    wide = x.double()
    mean = wide.sum(-1, keepdim=True) / 16
    variance = ((wide - mean) ** 2).sum(-1, keepdim=True) / 16
    by_hand = (wide - mean) / (variance + 1e-3).sqrt() * gamma + beta
    close(layer_norm(x, Norm(gamma, beta), 1e-3), by_hand.float(), 1e-5)

    phi = [0.5 * (1 + math.erf(value / math.sqrt(2))) for value in wide.flatten().tolist()]
    close(gelu(x), (wide.flatten() * torch.tensor(phi).double()).view(4, 16).float(), 1e-6)
    tanh = 0.5 * wide * (1 + torch.tanh(math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3)))
    close(gelu(x, tanh=True), tanh.float(), 1e-6)


@pytest.mark.parametrize("family", ["bert", "distilbert", "roberta", "electra"])
def test_every_step_follows_from_the_one_before(lab_model: LabModel, family: Family) -> None:
    layer = trace(lab_model(family), SENTENCE).layer(1)
    close(layer.scores, torch.einsum("hid,hjd->hij", layer.query, layer.key), 1e-5)
    close(layer.scaled_scores, layer.scores / HEAD_WIDTH**0.5, 1e-5)
    close(layer.attention, layer.scaled_scores.double().softmax(-1).float(), 1e-6)
    close(layer.context, torch.einsum("hij,hjd->hid", layer.attention, layer.value), 1e-5)
    assert torch.equal(layer.context_concat, torch.cat(list(layer.context), dim=-1))
    assert torch.equal(layer.attention_residual, layer.input + layer.attention_output)
    assert layer.attention_norm is not None
    assert torch.equal(layer.ffn_residual, layer.attention_norm + layer.ffn_output)
    assert layer.input_norm is None and layer.ffn_input_norm is None


def test_gpt2_adds_to_its_stream_and_normalises_before_each_sublayer(lab_model: LabModel) -> None:
    run = trace(lab_model("gpt2"), SENTENCE)
    layer = run.layer(1)
    assert torch.equal(layer.attention_residual, layer.input + layer.attention_output)
    assert torch.equal(layer.output, layer.attention_residual + layer.ffn_output)
    assert torch.equal(layer.output, run.hidden_states[2])
    assert layer.attention_norm is None and layer.input_norm is not None and layer.ffn_input_norm is not None


def test_a_local_layer_sees_its_window_and_a_global_one_everything(lab_model: LabModel) -> None:
    run = trace(lab_model("modernbert"), words(40))
    n = len(run)
    near = (torch.arange(n)[:, None] - torch.arange(n)).abs() <= WINDOW
    assert (run.layer(0).attention > 0).all()
    assert ((run.layer(1).attention > 0) == near).all()


@pytest.mark.parametrize("number", range(LAYERS))
def test_turned_queries_and_keys_know_how_far_apart_they_stand_and_nothing_else(
    lab_model: LabModel, number: int
) -> None:
    # Alike in every place, tokens score by their distance alone: each diagonal has one number.
    layer = lab_model("modernbert").weights.layers[number]
    q, k = torch.randn(2, 1, HEAD_WIDTH, generator=torch.Generator().manual_seed(number)).unbind()
    assert layer.rotary is not None
    query, key = (rotate(x.expand(HEADS, 24, -1), layer.rotary) for x in (q, k))
    scores = query @ key.mT
    close(scores[:, 1:, 1:], scores[:, :-1, :-1], 1e-5)
    assert (scores[:, 0] - scores[:, :1, 0]).abs().max() > 0.1
    # A hand is a complex number, and e to the power of i times an angle turns it.
    base = torch.tensor(layer.rotary)
    hand = torch.complex(*q[0].chunk(2)) * torch.polar(
        torch.ones(()), 5 * base ** (-torch.arange(0, 1, 2 / HEAD_WIDTH))
    )
    close(query[0, 5], torch.cat([hand.real, hand.imag]), 1e-5)
    close(query.norm(dim=-1), q.norm().expand(HEADS, 24), 1e-5)


def test_a_gate_multiplies_what_the_non_linearity_gives(lab_model: LabModel) -> None:
    run = trace(lab_model("modernbert"), SENTENCE)
    for number in range(LAYERS):
        layer = run.layer(number)
        assert layer.ffn_gate is not None and layer.weights.w_gate is not None and layer.ffn_input_norm is not None
        close(layer.ffn_gate, layer.ffn_input_norm @ layer.weights.w_gate, 1e-5)
        close(layer.ffn_activation, gelu(layer.ffn_hidden) * layer.ffn_gate, 1e-5)


def _permuted(encoding: Encoding, order: list[int]) -> Encoding:
    """The same tokens in another order, segments with them."""
    return replace(
        encoding,
        tokens=tuple(encoding.tokens[i] for i in order),
        token_ids=tuple(encoding.token_ids[i] for i in order),
        segment_ids=tuple(encoding.segment_ids[i] for i in order),
    )


@settings(max_examples=15)
@given(data=st.data())
@pytest.mark.parametrize("family", ["bert", "distilbert", "roberta", "electra"])
def test_without_positions_a_sentence_is_a_set(lab_model: LabModel, family: Family, data: st.DataObject) -> None:
    model, blind = lab_model(family), Interventions(no_positions=True)
    plain = trace(model, SENTENCE, PAIR, blind)
    order = data.draw(st.permutations(range(len(plain))))
    permuted = trace_encoding(model, _permuted(plain.encoding, order), blind)

    close(permuted.hidden_states, plain.hidden_states[:, order], 1e-5)
    close(permuted.attention, plain.attention[:, :, order][:, :, :, order], 1e-5)


def test_with_positions_or_a_causal_mask_the_order_counts(lab_model: LabModel, family: Family) -> None:
    model, blind = lab_model(family), Interventions(no_positions=True)
    plain = trace(model, SENTENCE)
    order = [0, *range(len(plain) - 2, 0, -1), len(plain) - 1]
    permuted = trace_encoding(model, _permuted(plain.encoding, order))
    assert (permuted.output - plain.output[order]).abs().max() > 1e-2
    if family == "gpt2":
        seen = trace(model, SENTENCE, None, blind), trace_encoding(model, permuted.encoding, blind)
        assert (seen[1].output - seen[0].output[order]).abs().max() > 1e-2
        unmasked = replace(blind, no_causal_mask=True)
        seen = trace(model, SENTENCE, None, unmasked), trace_encoding(model, permuted.encoding, unmasked)
        close(seen[1].output, seen[0].output[order], 1e-5)


def test_what_gpt2_says_of_a_prefix_never_depends_on_the_rest(lab_model: LabModel) -> None:
    model = lab_model("gpt2")
    whole = trace(model, "The cat sat on the mat because it was tired")
    start = trace(model, "The cat sat on")
    assert whole.token_ids[: len(start)] == start.token_ids
    close(whole.hidden_states[:, : len(start)], start.hidden_states, 1e-5)
