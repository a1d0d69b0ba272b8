"""What arrives at a token, against Hugging Face's attentions, values and matrices, vector by vector."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import lab
from lab.analysis.flow import arriving as arriving_module
from lab.analysis.flow.arriving import WHOLE, Arriving, arriving
from lab.analysis.flow.cuts import Cuts, cut_run
from lab.models.catalogue import EMBEDDED
from tests.checkpoints import Family
from tests.models.reference import load_theirs
from tests.thorough import one_by_day

SHORT = "The capital of France is [MASK]."
LONG = "The dogs that chased the cat were tired and wet. " * 20
MODELS: tuple[tuple[str, Family], ...] = (("lab-minilm", "bert"), ("lab-bert", "bert"), ("lab-gpt2", "gpt2"))


class Kept:
    """What modules of Hugging Face's gave out, by name, in one run."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack, self.found = stack, dict[str, Tensor]()

    def keep(self, name: str, module: nn.Module) -> None:
        def hook(_module: nn.Module, _inputs: Any, output: Any) -> None:
            self.found[name] = (output[0] if isinstance(output, tuple) else output).squeeze(0)

        self._stack.callback(module.register_forward_hook(hook).remove)


def by_hand(model: str, family: Family, text: str, watched: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Share (L, n), strength (L,), parts (L, H, n) and written (L, n): sums of vectors, no product of heads."""
    theirs = load_theirs(EMBEDDED / model, family)
    config: Any = theirs.module.config
    heads, width = config.num_attention_heads, config.hidden_size
    with ExitStack() as stack:
        kept = Kept(stack)
        for layer in range(config.num_hidden_layers):
            kept.keep(f"value{layer}", theirs.part("attention.self.value", "", "attn.c_attn", "", layer))
            kept.keep(f"ffn{layer}", theirs.part("output.dense", "", "mlp", "", layer))
            kept.keep(f"middle{layer}", theirs.part("attention.output", "", "attn", "", layer))
        out = theirs.run(text)
    rows: list[tuple[Tensor, ...]] = []
    for layer, attention in enumerate(out.attentions):
        value = kept.found[f"value{layer}"][:, -width:].unflatten(-1, (heads, -1)).transpose(0, 1)
        w_o = theirs.projection_inputs(layer).unflatten(0, (heads, -1))
        added = attention[:, watched, :, None] * (value @ w_o)  # (H, n, d): every vector that arrives
        together = added.sum(0)
        parts = (added * together).sum(-1) / together.square().sum(-1)
        before = out.hidden_states[layer]
        middle = kept.found[f"middle{layer}"] if family == "bert" else before + kept.found[f"middle{layer}"]
        rows.append(
            (
                together.norm(dim=-1) / together.norm(dim=-1).sum(),
                together.sum(0).norm() / before[watched].norm(),
                parts,
                kept.found[f"ffn{layer}"].norm(dim=-1) / middle.norm(dim=-1),
            )
        )
    share, strength, parts, written = (torch.stack(each) for each in zip(*rows, strict=True))
    return share, strength, parts, written


@one_by_day
@pytest.mark.parametrize("text", [SHORT, LONG], ids=["short", "long"])
@pytest.mark.parametrize(("model", "family"), MODELS)
def test_every_number_is_made_of_hugging_face_s_vectors(model: str, family: Family, text: str) -> None:
    trace = lab.trace(lab.load_model(model), text)
    watched = min(6, len(trace) - 1)
    found = arriving(trace, watched)
    share, strength, parts, written = by_hand(model, family, text, watched)
    np.testing.assert_allclose(found.row, share, atol=2e-5)
    np.testing.assert_allclose(found.strength[:, found.rows.index(watched)], strength, rtol=1e-4)
    np.testing.assert_allclose(found.written, written[:, list(found.rows)], rtol=1e-3)
    large = share > 1e-3  # the parts of next to nothing are noise
    np.testing.assert_allclose(found.parts.transpose(0, 2, 1)[large], parts.transpose(1, 2)[large], atol=2e-3)
    assert (len(trace) <= WHOLE) == (len(found.rows) == len(trace))


def _brings(shares: list[list[float]], watched: int) -> Arriving:
    share = np.array(shares, dtype=np.float32)[:, None]
    nothing = np.zeros((len(shares), 1), dtype=np.float32)
    return Arriving(watched, (watched,), share, nothing, nothing, nothing)


def test_the_tokens_that_bring_most_in_any_layer_are_chosen_and_the_watched_one() -> None:
    found = _brings([[0.5, 0.1, 0.1, 0.1, 0.2], [0.1, 0.1, 0.6, 0.1, 0.1]], watched=3)
    assert found.brought_most(3) == (0, 2, 3)
    assert found.brought_most(9) == (0, 1, 2, 3, 4)


def test_a_long_text_with_a_changed_head_is_read_whole() -> None:
    changes = lab.Interventions(uniform_heads=frozenset({(0, 0)}))
    trace = lab.trace(lab.load_model("lab-bert"), LONG, None, changes)
    found = arriving(trace, 5)
    assert len(found.rows) == len(trace)
    np.testing.assert_allclose(found.row.sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize("token", [-1, 99])
def test_a_token_that_is_not_there(token: int) -> None:
    trace = lab.trace(lab.load_model("lab-bert"), "A cat.")
    with pytest.raises(IndexError, match="the text has tokens 0 to"):
        arriving(trace, token)


@pytest.mark.parametrize("cut", ["1!", "3~", "2*,4"])
def test_of_a_long_text_the_watched_row_alone_is_that_of_all_rows_whatever_is_cut(
    cut: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = lab.trace(lab.load_model("lab-bert"), "The dogs that chased the cat were tired and wet. " * 4)
    cuts, whole = Cuts.read(cut, trace, 20)
    assert whole and len(trace) > arriving_module.WHOLE
    alone = arriving(cut_run(trace, 20, cuts), 20)
    monkeypatch.setattr(arriving_module, "WHOLE", 1000)
    again = lab.trace(lab.load_model("lab-bert"), trace.text)
    every = arriving(cut_run(again, 20, cuts), 20)
    assert alone.rows == (20,) and len(every.rows) == len(trace)
    np.testing.assert_allclose(alone.row, every.row, atol=1e-5)
    np.testing.assert_allclose(alone.parts, every.parts, atol=1e-3)
