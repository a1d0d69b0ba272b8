"""What attention must satisfy whatever the text: sums, masks, decomposition, permutation."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from lab.models.layer_trace import LayerTrace
from lab.models.trace import trace
from tests.checkpoints import CORPUS, HEADS, LAYERS, WIDTH, Family
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
