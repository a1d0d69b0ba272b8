"""What is not a checkpoint of this lab is refused with a sentence that names the file or the setting."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from lab.models.config import CheckpointError
from lab.models.loading import load_model
from lab.models.proof import prove
from lab.models.trace import trace
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint
from tests.models.folders import change_config
from tests.models.reference import PAIR, SENTENCE


@pytest.fixture
def folder(tiny_checkpoint: TinyCheckpoint, tmp_path: Path) -> Path:
    """A BERT checkpoint of this test's own."""
    return Path(shutil.copytree(tiny_checkpoint("bert"), tmp_path / "mine"))


def refused(folder: Path, *parts: str) -> None:
    """Fail unless loading raises a CheckpointError, one sentence or two, that holds all ``parts``."""
    with pytest.raises(CheckpointError) as caught:
        load_model(folder)
    message = str(caught.value)
    assert all(part in message for part in parts), message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("settings", "parts"),
    [
        ({"model_type": "t5"}, ("model_type is 't5'", "bert, roberta, electra, distilbert, gpt2, modernbert")),
        ({"model_type": "bert-generation"}, ("model_type is 'bert-generation'",)),
        ({"position_embedding_type": "relative_key"}, ("position_embedding_type is 'relative_key'", "'absolute'")),
        ({"is_decoder": True}, ("is_decoder is True",)),
        ({"add_cross_attention": True}, ("add_cross_attention is True",)),
        ({"hidden_act": "swish"}, ("the activation 'swish'", "gelu_new")),
        ({"num_attention_heads": 5}, ("the width 32 is not a multiple of the 5 heads",)),
        ({"hidden_size": ...}, ("config.json", "hidden_size")),
        ({"vocab_size": ...}, ("config.json", "vocab_size")),
        ({"num_hidden_layers": "two"}, ("config.json", "num_hidden_layers", "'two'")),
        ({"num_attention_heads": 0}, ("config.json", "num_attention_heads", "0")),
        ({"num_hidden_layers": 3}, ("no tensor 'bert.encoder.layer.2.attention.self.query.weight'",)),
    ],
)
def test_a_setting_the_lab_does_not_compute(folder: Path, settings: dict[str, Any], parts: tuple[str, ...]) -> None:
    change_config(folder, **settings)
    refused(folder, *parts)


def test_no_config(folder: Path) -> None:
    (folder / "config.json").unlink()
    refused(folder, "mine has no config.json")


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe\x00", b"[]", b'"text"'])
def test_a_config_that_is_no_config(folder: Path, content: bytes) -> None:
    (folder / "config.json").write_bytes(content)
    refused(folder, "config.json in mine is not")


@pytest.mark.parametrize("content", [b"", b"not safetensors", b"\xff" * 64, None], ids=[*"abc", "half of it"])
def test_damaged_safetensors(folder: Path, content: bytes | None) -> None:
    path = folder / "model.safetensors"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if content is None else content)
    refused(folder, "model.safetensors in mine is damaged")


def test_a_pickle_is_never_opened(folder: Path) -> None:
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    refused(folder, "mine has no model.safetensors", "safetensors only")


def test_shards_are_read_together(folder: Path) -> None:
    transformers.BertForPreTraining.from_pretrained(folder).save_pretrained(folder, max_shard_size="20KB")
    (folder / "model.safetensors").unlink(missing_ok=True)
    shards = sorted(folder.glob("model-*.safetensors"))
    assert len(shards) > 2
    model = load_model(folder)
    assert prove(model, trace(model, SENTENCE, PAIR)).passed

    shards[1].unlink()
    refused(folder, f"mine has no {shards[1].name}")


@pytest.mark.parametrize("index", [{}, {"weight_map": None}, {"weight_map": []}, {"weight_map": {"a": 3}}])
def test_an_index_that_is_no_index(folder: Path, index: dict[str, Any]) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    refused(folder, "model.safetensors.index.json in mine")


def test_an_index_cannot_lead_out_of_the_folder(folder: Path) -> None:
    save_file({"secret": torch.zeros(1)}, folder.parent / "outside.safetensors")
    index = {"weight_map": {"secret": "../outside.safetensors"}}
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    refused(folder, "outside of this folder", "'../outside.safetensors'")
    index["weight_map"]["secret"] = str(folder.parent / "outside.safetensors")
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    refused(folder, "outside of this folder")


def test_shards_in_a_folder_below_their_index(folder: Path) -> None:
    """As Hugging Face opens them."""
    whole = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    index: dict[str, dict[str, str]] = {"metadata": {}, "weight_map": {}}
    for number, name in enumerate(sorted(whole)):
        index["weight_map"][name] = f"parts/{number % 2}/model.safetensors"
    for shard in {*index["weight_map"].values()}:
        (folder / shard).parent.mkdir(parents=True)
        save_file({name: whole[name] for name in whole if index["weight_map"][name] == shard}, folder / shard)
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    model = load_model(folder)
    assert prove(model, trace(model, SENTENCE, PAIR)).passed
    (folder / "parts" / "1" / "model.safetensors").unlink()
    refused(folder, "mine has no parts/1/model.safetensors")


def test_each_vocabulary_that_is_read_is_named(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    refused(folder, "vocab.txt", "vocab.json with merges.txt", "sentencepiece.bpe.model")


def test_a_tokenizer_that_cuts_at_random_is_refused(tiny_checkpoint: TinyCheckpoint, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny_checkpoint("gpt2"), tmp_path / "mine"))
    content = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    content["model"]["dropout"] = 0.3
    (folder / "tokenizer.json").write_text(json.dumps(content))
    load_model(folder)  # GPT-2's own class makes the tokenizer anew, without dropout
    settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    settings["tokenizer_class"] = "PreTrainedTokenizerFast"
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    refused(folder, "dropout 0.3")


def test_a_large_sum_of_finite_numbers_is_no_reason(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    save_file(
        {**tensors, "cls.predictions.bias": torch.full_like(tensors["cls.predictions.bias"], 3e38)},
        folder / "model.safetensors",
    )
    load_model(folder)


@pytest.mark.parametrize("more", [1, 7])
def test_the_tokenizer_of_a_larger_model(folder: Path, more: int) -> None:
    content = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    size = len(content["model"]["vocab"])
    content["model"]["vocab"] |= {f"extra{i}": size + i for i in range(more)}
    (folder / "tokenizer.json").write_text(json.dumps(content))
    refused(folder, f"the tokenizer knows {size + more} tokens", f"the model only {size}", "tokenizer of another model")


def test_a_hole_in_the_vocabulary_does_not_hide_an_id_without_a_row(folder: Path) -> None:
    content = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    vocabulary = content["model"]["vocab"]
    vocabulary["##s"] = 5 * len(vocabulary)
    (folder / "tokenizer.json").write_text(json.dumps(content))
    refused(folder, f"ids up to {5 * len(vocabulary)}")


def test_the_tokenizer_of_another_kind_of_model(folder: Path, tiny_checkpoint: TinyCheckpoint) -> None:
    """BERT's class of tokenizer takes the other vocabulary for WordPiece, without a token for what is unknown."""
    shutil.copy(tiny_checkpoint("gpt2") / "tokenizer.json", folder)
    tokens = len(json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"])
    _with_vocabulary(folder, tokens)
    refused(folder, "the tokenizer in mine", "[UNK]")


def test_a_special_token_without_a_row(folder: Path) -> None:
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), "cls_token": "[NEW]"}))
    refused(folder, "puts '[NEW]' around a text", "no vector for it")


def _with_vocabulary(folder: Path, size: int) -> None:
    """Give the model as many words as the wrong tokenizer has, so that the size does not give it away."""
    model = transformers.BertForPreTraining.from_pretrained(folder)
    model.resize_token_embeddings(size)
    model.save_pretrained(folder)


@pytest.mark.parametrize(
    "content", ["{}", "{", "[]", '{"model": {}}', '{"model": {"type": "WordPiece"}}', '{"model": 3}']
)
def test_a_damaged_tokenizer(folder: Path, content: str) -> None:
    (folder / "tokenizer.json").write_text(content)
    refused(folder, "tokenizer.json in mine")


def test_no_tokenizer_at_all(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    refused(folder, "mine has neither tokenizer.json nor a vocabulary")


def test_a_vocabulary_without_tokenizer_json(folder: Path) -> None:
    whole = load_model(folder).tokenizer
    vocabulary = whole.get_vocab()
    (folder / "vocab.txt").write_text("\n".join(sorted(vocabulary, key=vocabulary.__getitem__)), encoding="utf-8")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    built = load_model(folder).tokenizer
    for pair in (None, PAIR):
        assert built.encode(SENTENCE, pair).ids == whole.encode(SENTENCE, pair).ids
        assert built.encode(SENTENCE, pair).offsets == whole.encode(SENTENCE, pair).offsets


@pytest.mark.parametrize("family", ["gpt2", "roberta"])
def test_merges_without_tokenizer_json(tiny_checkpoint: TinyCheckpoint, tmp_path: Path, family: Family) -> None:
    folder = Path(shutil.copytree(tiny_checkpoint(family), tmp_path / "mine"))
    whole = load_model(folder).tokenizer
    content = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]
    (folder / "vocab.json").write_text(json.dumps(content["vocab"]), encoding="utf-8")
    lines = [" ".join(merge) for merge in content["merges"]]
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *lines]) + "\n", encoding="utf-8")
    (folder / "tokenizer.json").unlink()
    assert load_model(folder).tokenizer.encode(SENTENCE, PAIR).ids == whole.encode(SENTENCE, PAIR).ids

    (folder / "merges.txt").unlink()
    refused(folder, "merges.txt")


def test_padding_and_truncation_somebody_left_on(folder: Path) -> None:
    tokenizer = load_model(folder).tokenizer
    ids = tokenizer.encode(SENTENCE).ids
    tokenizer.enable_padding(length=64)
    tokenizer.enable_truncation(4)
    tokenizer.save(str(folder / "tokenizer.json"))
    assert load_model(folder).tokenizer.encode(SENTENCE).ids == ids
