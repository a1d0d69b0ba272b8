"""Files as other programs leave them: read as Hugging Face reads them, or refused in a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file
from torch import Tensor

import lab
from lab.models import hub
from lab.models.catalogue import CATALOGUE, ModelCard, ModelUnavailable, card
from lab.models.config import CheckpointError
from lab.models.proof import prove
from tests.checkpoints import FAMILIES, Family
from tests.conftest import TinyCheckpoint
from tests.models.conftest import CopyOf
from tests.models.folders import change_config, change_tensors
from tests.models.foreign.sweep import TEXT, refusal

# What a file may hold that is no checkpoint's.
_CONTENTS = (b"", b"{", b"[]", b"{}", b"null", b"5", b'"x"', b"\xff\xfe", b'{"a":' + b"[" * 100_000)
_STEMS = {
    "bert": "Bert",
    "roberta": "Roberta",
    "electra": "Electra",
    "distilbert": "DistilBert",
    "gpt2": "GPT2",
    "modernbert": "ModernBert",
}
_CLASSES = sorted(
    (family, name)
    for family, stem in _STEMS.items()
    for name in dir(transformers)
    if name.startswith((f"{stem}For", f"{stem}Model", f"{stem}LMHead", f"{stem}Double"))
)


@pytest.mark.parametrize(
    "name",
    [
        *("config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"),
        *("special_tokens_map.json", "added_tokens.json", "generation_config.json", "adapter_config.json"),
        *("model.safetensors.index.json", "processor_config.json"),
    ],
)
def test_a_file_that_is_broken_or_a_folder(copy_of: CopyOf, name: str) -> None:
    for content in _CONTENTS:
        folder = copy_of("gpt2")
        (folder / name).write_bytes(content)
        try:
            refusal(folder)
        except BaseException as error:
            error.add_note(repr(content[:9]))
            raise
    (folder / name).unlink()
    (folder / name).mkdir()
    refusal(folder)


@pytest.mark.parametrize(("family", "name"), _CLASSES)
def test_every_class_of_every_family(copy_of: CopyOf, family: Family, name: str) -> None:
    """Saved by Hugging Face with the heads of this class; the lab reads those that it knows, and the encoder."""
    kind, folder = getattr(transformers, name), copy_of(family)
    torch.manual_seed(1)
    kind(kind.config_class.from_pretrained(folder)).save_pretrained(folder)
    assert refusal(folder) is None
    head = lab.load_model(folder).weights.vocabulary_head is not None
    predicts = name.endswith(("ForMaskedLM", "ForPreTraining", "ForCausalLM", "LMHeadModel")) or family == "gpt2"
    assert head == (predicts and family != "electra")


@pytest.mark.parametrize("name", ["GPT2Model", "GPT2ForSequenceClassification", "GPT2LMHeadModel"])
def test_an_untied_gpt2_with_and_without_its_head(copy_of: CopyOf, name: str) -> None:
    folder = copy_of("gpt2")
    change_config(folder, tie_word_embeddings=False)
    kind = getattr(transformers, name)
    kind(kind.config_class.from_pretrained(folder)).save_pretrained(folder)
    assert refusal(folder) is None
    assert (lab.load_model(folder).weights.vocabulary_head is not None) == (name == "GPT2LMHeadModel")


@pytest.mark.parametrize("family", FAMILIES)
def test_a_stale_index_beside_the_whole_file(copy_of: CopyOf, family: Family, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, entry = copy_of(family), card("gpt2")
    index = {"metadata": {}, "weight_map": {"a": "model-00001-of-00002.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    assert refusal(folder) is None
    monkeypatch.setattr(hub, "snapshot_download", lambda *_, **__: folder)
    assert entry is not None and hub.cached(entry) == folder, "a download with such an index is complete"


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float64, torch.float8_e4m3fn])
def test_other_floating_point_numbers(copy_of: CopyOf, kind: torch.dtype) -> None:
    folder = copy_of("bert")
    change_tensors(folder, lambda ts: {name: tensor.to(kind) for name, tensor in ts.items()})
    assert refusal(folder) is None


@pytest.mark.parametrize("kind", [torch.int8, torch.uint8, torch.int64, torch.bool, torch.complex64])
@pytest.mark.parametrize("family", ["bert", "gpt2", "modernbert"])
def test_numbers_of_another_kind_are_refused(copy_of: CopyOf, family: Family, kind: torch.dtype) -> None:
    """As a quantized checkpoint has them: only the large matrices."""
    folder = copy_of(family)
    change_tensors(folder, lambda ts: {n: t.to(kind) if t.ndim == 2 else t for n, t in ts.items()})
    assert str(kind).removeprefix("torch.") in (refusal(folder) or "")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_are_none_are_refused(copy_of: CopyOf, value: float) -> None:
    folder = copy_of("gpt2")
    name = "transformer.h.1.mlp.c_fc.weight"

    def broken(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        tensors[name][3, 5] = value
        return tensors

    change_tensors(folder, broken)
    assert f"'{name}' has numbers that are infinite or nan" in (refusal(folder) or "")


@pytest.mark.parametrize(
    ("family", "decoder", "table"),
    [
        ("bert", "cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"),
        ("roberta", "lm_head.decoder.weight", "roberta.embeddings.word_embeddings.weight"),
        ("distilbert", "vocab_projector.weight", "distilbert.embeddings.word_embeddings.weight"),
        ("gpt2", "lm_head.weight", "transformer.wte.weight"),
        ("modernbert", "decoder.weight", "model.embeddings.tok_embeddings.weight"),
    ],
)
@pytest.mark.parametrize("tied", [True, False])
def test_a_decoder_of_its_own(copy_of: CopyOf, family: Family, decoder: str, table: str, tied: bool) -> None:
    folder = copy_of(family)
    change_config(folder, tie_word_embeddings=tied)
    change_tensors(folder, lambda ts: {**ts, decoder: torch.randn_like(ts[table])})
    assert refusal(folder) is None
    change_tensors(folder, lambda ts: {name: tensor for name, tensor in ts.items() if name != decoder})
    assert tied or f"not tied, yet '{decoder}' is missing" in (refusal(folder) or "")


@pytest.mark.parametrize(("family", "head"), [("bert", "cls.predictions"), ("roberta", "lm_head")])
def test_the_proof_names_a_bias_that_hugging_face_did_not_find(copy_of: CopyOf, family: Family, head: str) -> None:
    """An untied decoder reads its own bias; Hugging Face fills it with zeros if only the other one is there."""
    folder = copy_of(family)
    change_config(folder, tie_word_embeddings=False)
    rows = json.loads((folder / "config.json").read_text())["vocab_size"]
    change_tensors(folder, lambda ts: {**ts, f"{head}.decoder.weight": torch.randn(rows, 32)})
    model = lab.load_model(folder)
    proof = prove(model, lab.trace(model, TEXT))
    assert proof.first_failure is not None and proof.first_failure.step == "logits"
    assert proof.not_found == (f"{head}.decoder.bias",)

    bias = load_file(folder / "model.safetensors")[f"{head}.bias"]
    change_tensors(folder, lambda ts: {**ts, f"{head}.decoder.bias": bias + 1})
    model = lab.load_model(folder)
    proof = prove(model, lab.trace(model, TEXT))
    assert proof.passed and not proof.not_found


@pytest.mark.parametrize("size", [1, 3, 8])
def test_the_proof_compares_without_chunks(copy_of: CopyOf, size: int) -> None:
    folder = copy_of("bert")
    change_config(folder, chunk_size_feed_forward=size)
    model = lab.load_model(folder)
    assert prove(model, lab.trace(model, TEXT)).passed


def test_names_of_sizes_that_hugging_face_maps(copy_of: CopyOf) -> None:
    """hidden_size for GPT-2's n_embd, as some programs write it."""
    for family, other in (("gpt2", {"n_embd": "hidden_size"}), ("distilbert", {"dim": "hidden_size"})):
        folder = copy_of(family)  # type: ignore[arg-type]
        raw = json.loads((folder / "config.json").read_text())
        change_config(folder, **dict.fromkeys(other, ...), **{new: raw[name] for name, new in other.items()})
        assert refusal(folder) is None


@pytest.mark.parametrize("family", ["bert", "distilbert", "roberta", "electra", "gpt2", "modernbert"])
def test_without_model_type_the_class_or_the_tensors_say_the_family(copy_of: CopyOf, family: Family) -> None:
    folder = copy_of(family)
    change_config(folder, model_type=...)
    assert lab.load_model(folder).config.family == family
    assert refusal(folder) is None
    other = folder.rename(folder.parent / "mine")
    change_config(other, architectures=...)
    if family in ("gpt2", "modernbert"):  # their tensors' prefixes are those of other models, too
        with pytest.raises(CheckpointError, match="model_type is None"):
            lab.load_model(other)
    else:
        assert lab.load_model(other).config.family == family


def test_electra_without_embedding_size(copy_of: CopyOf) -> None:
    folder = copy_of("electra")
    config = transformers.ElectraConfig.from_pretrained(folder)
    config.embedding_size = 128
    transformers.ElectraForPreTraining(config).save_pretrained(folder)
    change_config(folder, embedding_size=...)
    assert refusal(folder) is None


def test_an_unnamed_unknown_or_impossible_model() -> None:
    for name in ("", "  ", "\0", "x" * 5000, "~nobody-has-this-name/x", "README.md"):
        with pytest.raises(ModelUnavailable, match="There is no model or folder called"):
            lab.load_model(name)


def test_a_repository_is_the_catalogues_model(monkeypatch: pytest.MonkeyPatch, tiny_checkpoint: TinyCheckpoint) -> None:
    asked: list[ModelCard] = []

    def download(entry: ModelCard) -> Path:
        asked.append(entry)
        return tiny_checkpoint("bert")

    monkeypatch.setattr("lab.models.hub.download", download)
    hosted = [entry for entry in CATALOGUE if entry.repository is not None]
    for entry in hosted:
        assert lab.load_model(str(entry.repository)).id == entry.id
    assert asked == hosted == [card(entry.id) for entry in hosted]
