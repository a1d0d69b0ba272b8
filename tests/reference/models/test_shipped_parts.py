"""The trained parts that ship: which there are, and the facts about them, held against the files themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import BertConfig, BertModel, GPT2Config, GPT2Model

from lab.models.catalogue import CATALOGUE, EMBEDDED, card, ships
from lab.reference.models import shipped_parts as module
from lab.reference.models.model_cards import Picture, read_model_card
from lab.reference.models.shipped_parts import PUBLISHED, PublishedSize, facts, parts, sizes
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint
from tests.pages.apptest import visit

SHIPPED = parts()


@pytest.mark.parametrize("part", SHIPPED, ids=lambda part: part.id)
def test_every_card_can_be_shown(part: module.TrainedPart) -> None:
    text = part.card()
    assert text.title == part.id
    pictures = [each for each in text.parts() if isinstance(each, Picture)]
    assert pictures, "a card shows its training curve"
    assert all(picture.alt and picture.path.read_text().startswith("<svg") for picture in pictures)
    found = facts(part.folder, text)
    assert {"Library", "Size", "Licence", "Trained on"} <= set(found)


def test_every_model_that_ships_has_a_card() -> None:
    folders = {path.parent.name for path in EMBEDDED.glob("*/config.json")}
    assert "lab-bert" in folders
    assert folders <= {part.id for part in SHIPPED}
    assert {entry.id for entry in CATALOGUE if ships(entry)} == folders


@pytest.mark.parametrize("part", [part for part in SHIPPED if card(part.id)], ids=lambda part: part.id)
def test_facts_of_a_model_are_those_of_its_files(part: module.TrainedPart) -> None:
    found, entry = facts(part.folder, part.card()), card(part.id)
    numbers = sum(tensor.numel() for tensor in load_file(part.folder / "model.safetensors").values())
    assert found["Parameters"] == f"{numbers:,}"
    size = sum(path.stat().st_size for path in (*part.folder.glob("*.*"), *part.folder.glob("lens/*"))) / 1e6
    assert found["Size"] == f"{size:.1f} MB"
    assert entry is not None
    assert entry.megabytes == pytest.approx((part.folder / "model.safetensors").stat().st_size / 1e6, abs=1)


def test_lab_bert_s_shape() -> None:
    part = next(part for part in SHIPPED if part.id == "lab-bert")
    found = facts(part.folder, part.card())
    assert found["Architecture"].startswith("BERT: 4 layers of 8 heads, 256 wide, 512 positions")
    assert "wikinews-en" in found["Trained on"]


@pytest.mark.parametrize(("family", "name"), [("gpt2", "GPT-2"), ("modernbert", "ModernBERT"), ("roberta", "RoBERTa")])
def test_a_checkpoint_without_a_card(family: Family, name: str, tiny_checkpoint: TinyCheckpoint) -> None:
    folder = tiny_checkpoint(family)
    found = facts(folder, None)
    assert found["Architecture"].startswith(f"{name}: 2 layers of 4 heads, 32 wide, 512 positions")
    assert found["Parameters"] == f"{sum(t.numel() for t in load_file(folder / 'model.safetensors').values()):,}"
    assert set(found) == {"Architecture", "Parameters", "Size"}


def test_parts_are_found_where_a_card_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for room, names in (("models", ("z-own", "lab-gpt2", "lab-bert")), ("text", ("punkt", "en_lab"))):
        for name in names:
            (tmp_path / room / name).mkdir(parents=True)
            (tmp_path / room / name / "MODEL_CARD.md").write_text(f"---\nlicense: mit\n---\n# {name}\n")
    (tmp_path / "text" / "no-card").mkdir()
    (tmp_path / "text" / "en_lab" / "meta.json").write_text('{"pipeline": ["tok2vec", "tagger"]}')
    monkeypatch.setattr(module, "EMBEDDED", tmp_path / "models")
    monkeypatch.setattr(module, "TEXT_PARTS", tmp_path / "text")
    assert [part.id for part in parts()] == ["lab-bert", "lab-gpt2", "z-own", "en_lab", "punkt"]
    pipeline = tmp_path / "text" / "en_lab"
    assert facts(pipeline, read_model_card(pipeline)) == {
        "Architecture": "spaCy pipeline: tok2vec, tagger",
        "Size": "0.0 MB",
        "Licence": "mit",
    }


def test_a_copy_without_a_text_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TEXT_PARTS", tmp_path / "nothing")
    monkeypatch.setattr(module, "EMBEDDED", tmp_path / "nothing")
    assert parts() == ()


@pytest.mark.parametrize("model_id", [entry.id for entry in CATALOGUE if ships(entry)])
def test_a_specification_is_that_of_the_tensors(model_id: str) -> None:
    folder = EMBEDDED / model_id
    tensors, found = load_file(folder / "model.safetensors"), module.specification(folder)
    assert found is not None and found["Parameters"] == sum(tensor.numel() for tensor in tensors.values())
    assert [found["Vocabulary"], found["Hidden size"]] in [list(tensor.shape) for tensor in tensors.values()]
    assert [found["Positions"], found["Hidden size"]] in [list(tensor.shape) for tensor in tensors.values()]
    between = {found["Hidden size"], found["Feed-forward size"]}
    wide = [name for name, tensor in tensors.items() if tensor.ndim == 2 and set(tensor.shape) == between]
    assert len(wide) == 2 * found["Layers"]
    assert found["Heads in all"] == found["Layers"] * found["Heads in a layer"]


def test_a_part_that_is_no_model_has_no_specification() -> None:
    assert module.specification(module.TEXT_PARTS) is None


every_model = pytest.mark.parametrize("entry", PUBLISHED, ids=lambda entry: entry.id)


def gpt2_config(entry: PublishedSize) -> GPT2Config:
    return GPT2Config(
        n_layer=entry.layers,
        n_embd=entry.width,
        n_head=entry.heads,
        n_inner=entry.ffn_width,
        vocab_size=entry.vocabulary,
        n_positions=entry.max_tokens,
    )


def bert_config(entry: PublishedSize) -> BertConfig:
    return BertConfig(
        num_hidden_layers=entry.layers,
        hidden_size=entry.width,
        num_attention_heads=entry.heads,
        intermediate_size=entry.ffn_width,
        vocab_size=entry.vocabulary,
        max_position_embeddings=entry.max_tokens,
        type_vocab_size=entry.segments,
    )


@every_model
def test_parameters_are_those_that_transformers_makes(entry: PublishedSize) -> None:
    with torch.device("meta"):
        model = GPT2Model(gpt2_config(entry)) if entry.causal else BertModel(bert_config(entry))
    assert sum(each.numel() for each in model.parameters()) == entry.parameters


def test_the_defaults_of_transformers_are_bert_base_and_gpt2() -> None:
    """The library takes the sizes of these two models when nothing is said."""
    base, small = (next(each for each in PUBLISHED if each.id == id) for id in ("bert-base-uncased", "gpt2"))
    theirs, ours = BertConfig().to_dict(), bert_config(base).to_dict()
    assert ours == theirs
    theirs, ours = GPT2Config().to_dict(), gpt2_config(small).to_dict()
    assert {**ours, "n_inner": None} == theirs and small.ffn_width == 4 * small.width


@every_model
def test_the_catalogue_s_file_has_room_for_them(entry: PublishedSize) -> None:
    """Four bytes a number; beyond that a checkpoint has heads, and GPT-2's the masks of its 12 layers."""
    known = card(entry.id)
    assert known is not None
    masks = 4 * entry.layers * entry.max_tokens**2 / 1e6 if entry.causal else 0
    assert -1 < known.megabytes - masks - 4 * entry.parameters / 1e6 < 25


def test_the_page_shows_them_beside_the_lab_s_own() -> None:
    at = visit("20_Models.py")
    table = next(each.value for each in at.table if "gpt2" in each.value.columns)
    assert {"lab-minilm", "lab-bert", "lab-gpt2"} < set(table.columns)
    for entry in PUBLISHED:
        assert table[entry.id].tolist() == [f"{each:,}" for each in sizes(entry, entry.parameters).values()]
