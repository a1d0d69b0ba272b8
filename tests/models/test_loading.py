"""Checkpoints as they are found in the world: read as Hugging Face reads them, or refused by name."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import Tensor

from lab.models import loading as catalogue
from lab.models.catalogue import CATALOGUE, DEFAULT_MODEL, ModelUnavailable
from lab.models.config import CheckpointError
from lab.models.loading import load_model
from lab.models.proof import prove
from lab.models.trace import trace
from tests.checkpoints import WINDOW, Family
from tests.conftest import TinyCheckpoint
from tests.models.conftest import CopyOf
from tests.models.folders import change_config, change_tensors
from tests.models.reference import PAIR, SENTENCE, agrees, load_theirs

# Tensors a family's checkpoint may lack: the lab computes nothing with them.
UNUSED = {"bert-headless": ("pooler.dense.weight", "pooler.dense.bias")}


def proven(folder: Path, family: Family) -> None:
    """Fail unless the folder loads and gives the numbers Hugging Face gets from it."""
    model = load_model(folder)
    ours = trace(model, SENTENCE, PAIR)
    agrees(ours, load_theirs(folder, family).run(SENTENCE, PAIR))
    assert prove(model, ours).passed


def test_every_missing_tensor_is_named(copy_of: CopyOf, family: Family) -> None:
    folder = copy_of(family)
    whole = load_file(folder / "model.safetensors")
    unused = UNUSED.get(family, ())
    for name in whole:
        save_file({n: t for n, t in whole.items() if n != name}, folder / "model.safetensors")
        if name in unused:
            load_model(folder)
            continue
        with pytest.raises(CheckpointError, match=f"no tensor '{name}'"):
            load_model(folder)


def test_every_tensor_of_a_wrong_shape_is_named(copy_of: CopyOf, family: Family) -> None:
    folder = copy_of(family)
    whole = load_file(folder / "model.safetensors")
    for name in set(whole) - set(UNUSED.get(family, ())):
        shorter = {n: t[1:].contiguous() if n == name else t for n, t in whole.items()}
        save_file(shorter, folder / "model.safetensors")
        with pytest.raises(CheckpointError) as caught:
            load_model(folder)
        message, shape = str(caught.value), tuple(whole[name].shape)
        assert f"'{name}' has shape {(shape[0] - 1, *shape[1:])}; config.json asks for {shape}" in message


def test_the_old_names_of_layer_norm(copy_of: CopyOf) -> None:
    folder = copy_of("bert")

    def renamed(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
        return {
            next((n.replace(new, was) for new, was in old.items() if n.endswith(new)), n): t for n, t in tensors.items()
        }

    change_tensors(folder, renamed)
    assert any(name.endswith("LayerNorm.gamma") for name in load_file(folder / "model.safetensors"))
    proven(folder, "bert")


@pytest.mark.parametrize("family", ["distilbert", "roberta", "gpt2", "modernbert"])
def test_a_base_model_without_its_prefix(copy_of: CopyOf, family: Family) -> None:
    folder = copy_of(family)
    transformers.AutoModel.from_pretrained(folder).save_pretrained(folder)
    prefix = {"gpt2": "transformer.", "modernbert": "model."}.get(family, f"{family}.")
    assert not any(name.startswith(prefix + "embeddings") for name in load_file(folder / "model.safetensors"))

    model, theirs = load_model(folder), load_theirs(folder, "bert-headless")
    ours, outputs = trace(model, SENTENCE), theirs.run(SENTENCE)
    assert torch.allclose(ours.output, outputs.hidden_states[-1], atol=1e-4)
    assert (model.weights.vocabulary_head is not None) == (family == "gpt2"), "GPT-2's head is its embeddings"
    assert prove(model, ours).passed


def test_a_headless_model_saved_with_the_prefix(copy_of: CopyOf) -> None:
    folder = copy_of("bert-headless")
    change_tensors(folder, lambda tensors: {f"bert.{name}": tensor for name, tensor in tensors.items()})
    proven(folder, "bert-headless")


@pytest.mark.parametrize("activation", ["gelu", "gelu_new", "gelu_pytorch_tanh", "relu"])
@pytest.mark.parametrize("family", ["bert", "distilbert", "roberta", "electra", "gpt2", "modernbert"])
def test_every_activation_of_every_family(copy_of: CopyOf, family: Family, activation: str) -> None:
    folder = copy_of(family)
    called = {"distilbert": "activation", "gpt2": "activation_function", "modernbert": "hidden_activation"}
    setting = called.get(family, "hidden_act")
    change_config(folder, **{setting: activation})
    proven(folder, family)


def test_modernbert_as_it_was_published(copy_of: CopyOf) -> None:
    """Its config.json is older than Transformers 5: other names for the bases, every n-th layer global."""
    folder = copy_of("modernbert")
    change_config(
        folder,
        layer_types=...,
        rope_parameters=...,
        global_attn_every_n_layers=2,
        global_rope_theta=500.0,
        local_rope_theta=20.0,
    )
    layers = load_model(folder).weights.layers
    assert [(layer.rotary, layer.window) for layer in layers] == [(500.0, None), (20.0, WINDOW)]
    proven(folder, "modernbert")


def test_modernbert_with_layers_of_another_kind_is_refused(copy_of: CopyOf) -> None:
    folder = copy_of("modernbert")
    change_config(folder, layer_types=["full_attention", "chunked_attention"])
    with pytest.raises(CheckpointError, match="layer_types must name 2 layers"):
        load_model(folder)
    yarn = {"rope_type": "yarn", "rope_theta": 10.0}
    change_config(folder, layer_types=..., rope_parameters={"full_attention": yarn})
    with pytest.raises(CheckpointError, match="rope_type is 'yarn'"):
        load_model(folder)


def test_a_decoder_bias_under_its_other_name(copy_of: CopyOf) -> None:
    folder = copy_of("bert")
    change_tensors(
        folder, lambda ts: {n.replace("predictions.bias", "predictions.decoder.bias"): t for n, t in ts.items()}
    )
    proven(folder, "bert")


@pytest.mark.parametrize("pair", [None, PAIR])
def test_the_model_that_ships_is_proven(pair: str | None) -> None:
    model = load_model(DEFAULT_MODEL)
    proof = prove(model, trace(model, SENTENCE, pair))
    assert proof.passed and proof.largest_difference <= 1e-4
    assert {"logits", "pair_logits"} <= {row.step for row in proof.rows}
    assert model.weights.embeddings.token.dtype == torch.float32


def test_a_catalogue_id_that_ships_is_read_from_the_repository(
    tiny_checkpoint: TinyCheckpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(tiny_checkpoint("bert"), tmp_path / "lab-bert")
    monkeypatch.setattr(catalogue, "EMBEDDED", tmp_path)
    model = load_model("lab-bert")
    assert (model.id, repr(model)) == ("lab-bert", "<lab-bert: bert, 2 layers, 4 heads, width 32>")
    assert prove(model, trace(model, SENTENCE)).passed


def test_a_catalogue_id_that_this_copy_lacks_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "EMBEDDED", tmp_path)
    with pytest.raises(ModelUnavailable, match="came without lab-gpt2"):
        load_model("lab-gpt2")


def test_a_folder_by_path_text_or_the_current_one(
    tiny_checkpoint: TinyCheckpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_checkpoint("bert")
    monkeypatch.chdir(folder)
    assert {load_model(folder).id, load_model(str(folder)).id, load_model(".").id} == {folder.name}


def test_an_unknown_name_is_answered_with_the_catalogue() -> None:
    with pytest.raises(ModelUnavailable) as caught:
        load_model("bert-base-unkased")
    assert "no model or folder called 'bert-base-unkased'" in str(caught.value)
    assert all(entry.id in str(caught.value) for entry in CATALOGUE)
