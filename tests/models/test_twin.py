"""A model's twin with random weights: drawn as Hugging Face draws them, the same by seed, proven like any other."""

from __future__ import annotations

import gc
import json
import math
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import (
    BertConfig,
    BertForPreTraining,
    GPT2Config,
    GPT2LMHeadModel,
    ModernBertConfig,
    ModernBertForMaskedLM,
    PreTrainedModel,
    RobertaConfig,
    RobertaForMaskedLM,
)

import lab
from lab.models.catalogue import twin_id
from lab.models.loading import Checkpoint, LoadedModel, load_model
from lab.models.twin import random_twin, twin, untrained_seed, untrained_twin
from lab.toy.models import random_toy
from tests.checkpoints import FAMILIES, Family
from tests.conftest import TinyCheckpoint
from tests.models.conftest import LabModel

TEXT = "The cat sat on the mat, and the dog laughed."
# Wide enough that a standard deviation is known to a few percent; 0.05 tells the setting from the default.
STD = 0.05


def tensors_of(model: LoadedModel) -> Mapping[str, Tensor]:
    assert isinstance(model.source, Checkpoint)
    return model.source.tensors


def fresh(family: str) -> PreTrainedModel:
    """A model as Hugging Face itself initialises it, 5 layers of 64 dimensions."""
    if family == "gpt2":
        return GPT2LMHeadModel(
            GPT2Config(vocab_size=450, n_embd=64, n_layer=5, n_head=4, n_positions=128, initializer_range=STD)
        )
    sizes: dict[str, Any] = {
        "vocab_size": 450,
        "hidden_size": 64,
        "num_hidden_layers": 5,
        "num_attention_heads": 4,
        "intermediate_size": 256,
        "initializer_range": STD,
    }
    if family == "modernbert":
        return ModernBertForMaskedLM(ModernBertConfig(**sizes, pad_token_id=1, cls_token_id=2, sep_token_id=3))
    return BertForPreTraining(BertConfig(**sizes)) if family == "bert" else RobertaForMaskedLM(RobertaConfig(**sizes))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_twin_is_the_same_architecture_and_is_proven(family: Family, lab_model: LabModel) -> None:
    model = lab_model(family)
    twin = random_twin(model, seed=3)
    assert twin.config == model.config
    assert twin.tokenizer is model.tokenizer
    assert twin.id == f"{model.id}, random weights (seed 3)"
    trace = lab.trace(twin, TEXT)
    proof = lab.prove(twin, trace)
    assert proof.passed, proof.first_failure
    steps = {row.step for row in lab.prove(model, lab.trace(model, TEXT)).rows}
    assert {row.step for row in proof.rows} == steps


@pytest.mark.parametrize("family", ["bert", "gpt2", "roberta", "modernbert"])
def test_it_is_drawn_as_hugging_face_draws(family: str, tmp_path: Path, tiny_checkpoint: TinyCheckpoint) -> None:
    torch.manual_seed(0)
    fresh(family).save_pretrained(tmp_path)
    tokenizer = tiny_checkpoint(family) / "tokenizer.json"
    (tmp_path / "tokenizer.json").write_bytes(tokenizer.read_bytes())
    theirs, ours = load_file(tmp_path / "model.safetensors"), tensors_of(random_twin(load_model(tmp_path)))
    assert set(ours) == set(theirs)
    for name, tensor in theirs.items():
        if tensor.ndim == 1:
            assert torch.equal(ours[name], tensor), name  # both all ones, or all zeros
            continue
        # A standard deviation from n numbers is off by 1/√(2n) of itself; both are estimates.
        spread = 6 / math.sqrt(tensor.numel())
        assert ours[name].std().item() == pytest.approx(tensor.std().item(), rel=spread), name
        assert abs(ours[name].mean().item()) < 5 * STD / math.sqrt(tensor.numel()), name
        assert torch.equal(ours[name].eq(0).all(1), tensor.eq(0).all(1)), f"{name}: another row is padding"
        assert not torch.equal(ours[name], tensor)
        # Normal numbers go on beyond three deviations, at least one in 400; cut ones end at two.
        assert tensor.numel() < 2000 or (ours[name].abs().max() > 3 * ours[name].std()) == (
            tensor.abs().max() > 3 * tensor.std()
        ), name


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_the_seed_decides(family: Family, lab_model: LabModel) -> None:
    model = lab_model(family)
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    first = tensors_of(random_twin(model, seed=5))
    torch.manual_seed(2)
    second, other = tensors_of(random_twin(model, seed=5)), tensors_of(random_twin(model, seed=6))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not any(torch.equal(first[name], other[name]) for name in first if first[name].ndim == 2)
    torch.manual_seed(1)
    random_twin(model, seed=7)
    assert torch.equal(torch.random.get_rng_state(), before), "the global generator was moved"


@pytest.mark.parametrize("family", ["bert", "gpt2", "roberta", "distilbert", "modernbert"])
def test_a_tied_decoder_stays_tied(family: Family, lab_model: LabModel) -> None:
    weights = random_twin(lab_model(family)).weights
    assert weights.vocabulary_head is not None
    assert weights.vocabulary_head.decoder.data_ptr() == weights.embeddings.token.data_ptr()


def rewritten(folder: Path, to: Path, tensors: dict[str, Tensor], **settings: object) -> LoadedModel:
    """The checkpoint in ``folder`` with other tensors and settings, written to ``to`` and loaded."""
    to.mkdir()
    (to / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
    (to / "config.json").write_text(json.dumps(json.loads((folder / "config.json").read_text()) | settings))
    save_file(tensors, to / "model.safetensors")
    return load_model(to)


def test_a_decoder_of_its_own_stays_its_own(tiny_checkpoint: TinyCheckpoint, tmp_path: Path) -> None:
    folder = tiny_checkpoint("gpt2")
    tensors = load_file(folder / "model.safetensors")
    tensors["lm_head.weight"] = torch.randn_like(tensors["transformer.wte.weight"])
    twin = random_twin(rewritten(folder, tmp_path / "untied", tensors, tie_word_embeddings=False))
    head = twin.weights.vocabulary_head
    assert head is not None
    assert not torch.equal(head.decoder, twin.weights.embeddings.token)
    assert lab.prove(twin, lab.trace(twin, TEXT)).passed


def test_an_old_checkpoint_s_names_and_buffers(tiny_checkpoint: TinyCheckpoint, tmp_path: Path) -> None:
    """The Hub's gpt2: no prefix, and its causal masks are saved among the weights."""
    folder = tiny_checkpoint("gpt2")
    tensors = {name.removeprefix("transformer."): t for name, t in load_file(folder / "model.safetensors").items()}
    mask = torch.tril(torch.ones(1, 1, 512, 512))
    tensors |= {f"h.{layer}.attn.bias": mask.clone() for layer in (0, 1)}
    twin = random_twin(rewritten(folder, tmp_path / "old", tensors))
    assert not [name for name in tensors_of(twin) if name.endswith(".attn.bias")]
    assert lab.prove(twin, lab.trace(twin, TEXT)).passed


def test_the_old_names_of_layer_norm(tiny_checkpoint: TinyCheckpoint, tmp_path: Path) -> None:
    folder = tiny_checkpoint("bert")
    tensors = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
        for name, tensor in load_file(folder / "model.safetensors").items()
    }
    twin = random_twin(rewritten(folder, tmp_path / "old", tensors))
    norm = twin.weights.layers[0].norm_1
    assert norm is not None
    assert torch.equal(norm.gamma, torch.ones(32)) and torch.equal(norm.beta, torch.zeros(32))
    assert lab.prove(twin, lab.trace(twin, TEXT)).passed


def test_a_twin_of_a_twin_is_a_twin(lab_model: LabModel) -> None:
    model = lab_model("bert")
    once, twice = tensors_of(random_twin(model, 4)), tensors_of(random_twin(random_twin(model, 1), 4))
    assert all(torch.equal(once[name], twice[name]) for name in once)


def test_a_twin_on_screen_is_compared_with_another_draw() -> None:
    assert untrained_seed("lab-bert") == ("lab-bert", 0)
    assert untrained_seed(twin_id("lab-bert", 7)) == ("lab-bert", 8)
    model = lab.load_model("lab-bert")
    other = untrained_twin(random_twin(model, 7))
    expected = random_twin(model, 8)
    assert (other.weights.layers[0].w_q == expected.weights.layers[0].w_q).all()


def test_a_twin_is_drawn_once_and_goes_with_the_last_who_runs_it() -> None:
    model = random_toy(8, 8, seed=0)
    kept = twin(model, 1)
    assert twin(model, 1) is kept is not twin(model, 2)
    assert (kept.weights.layers[0].w_q == random_twin(model, 1).weights.layers[0].w_q).all()
    gone, run = weakref.ref(kept), lab.trace(kept, "a b")
    del kept
    assert gone() is twin(model, 1) is run.model
    del run
    gc.collect()
    assert gone() is None
