"""Checkpoints on offer that are broken or of another kind: every page stands, whichever of them is chosen."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

import lab
from lab.models.catalogue import DEFAULT_MODEL
from lab.ui import runs
from lab.ui.shared.prediction import cannot_predict
from tests.checkpoints import CORPUS
from tests.conftest import TinyCheckpoint
from tests.models.folders import change_config, change_tensors
from tests.pages.apptest import ROOT, turn_to, visit, words

PAGES = sorted(path.name for path in (ROOT / "pages").glob("*.py"))


def _set(folder: Path, name: str, **settings: object) -> None:
    path = folder / name
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | settings))


def _of_tomorrow(folder: Path) -> None:
    _set(folder, "tokenizer.json", normalizer={"type": "OfTomorrow"})


def _no_fast_form(folder: Path) -> None:
    _set(folder, "tokenizer_config.json", tokenizer_class="CanineTokenizer")


def _no_json(folder: Path) -> None:
    (folder / "tokenizer_config.json").write_text("{")


def _no_number(folder: Path) -> None:
    change_config(folder, layer_norm_eps=None)


def _quantized(folder: Path) -> None:
    change_config(folder, quantization_config={"quant_method": "bitsandbytes", "load_in_8bit": True})
    change_tensors(folder, lambda ts: {n: t.to(torch.int8) if t.ndim == 2 else t for n, t in ts.items()})


def _no_config(folder: Path) -> None:
    (folder / "config.json").unlink()


def _only_a_config(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"broken")


BROKEN: tuple[Callable[[Path], None], ...] = (
    _of_tomorrow,
    _no_fast_form,
    _no_json,
    _no_number,
    _quantized,
    _no_config,
    _only_a_config,
)


@pytest.fixture
def on_offer(tiny_checkpoint: TinyCheckpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A folder broken in each way, one that is not there, and a home of nobody's, all on offer; the folders' names."""
    folders = []
    for damage in BROKEN:
        folder = Path(shutil.copytree(tiny_checkpoint("bert"), tmp_path / damage.__name__.strip("_")))
        damage(folder)
        folders.append(folder)
    named = [*map(str, folders), str(tmp_path / "gone"), "~nobody-has-this-name/model"]
    monkeypatch.setenv("LAB_MODELS", os.pathsep.join(named))
    runs.model_ids.clear()
    return [folder.name for folder in folders] + ["gone"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: Path(page).stem)
def test_a_broken_model_on_offer_breaks_no_page(page: str, on_offer: list[str]) -> None:
    at = visit(page)
    assert not at.error
    chosen = visit(page, model=on_offer[PAGES.index(page) % len(on_offer)])
    assert not chosen.error


def test_each_broken_model_is_a_sentence_on_its_own_choice(on_offer: list[str]) -> None:
    for name in on_offer:
        at = visit("3_Self-attention.py", model=name)
        (warning,) = at.warning
        assert warning.value.endswith(f"You see {DEFAULT_MODEL} instead.") and "\n" not in warning.value
        card = visit("20_Models.py", card=name, model=name)
        assert not card.error


def test_a_folder_with_a_name_of_the_catalogue(
    tiny_checkpoint: TinyCheckpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder stands for the model that would be downloaded, and never for a model that ships."""
    hosted = Path(shutil.copytree(tiny_checkpoint("gpt2"), tmp_path / "gpt2"))
    shipped = Path(shutil.copytree(tiny_checkpoint("bert"), tmp_path / DEFAULT_MODEL))
    _no_config(shipped)
    monkeypatch.setenv("LAB_MODELS", os.pathsep.join(map(str, (hosted, shipped))))
    runs.model_ids.clear()
    assert len(set(runs.model_ids())) == len(runs.model_ids())
    at = visit("3_Self-attention.py", step="map", model="gpt2")
    assert not at.warning and at.selectbox(key="layer").options == ["1", "2"]
    at = visit("3_Self-attention.py", step="map", model=DEFAULT_MODEL)
    assert not at.warning and len(at.selectbox(key="layer").options) == 6


@pytest.mark.parametrize("name", ["ElectraForMaskedLM", "ElectraForPreTraining", "ElectraModel"])
def test_an_electra_generator_is_not_called_a_discriminator(
    name: str, tiny_checkpoint: TinyCheckpoint, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(tiny_checkpoint("electra"), tmp_path / "electra"))
    kind = getattr(transformers, name)
    kind(kind.config_class.from_pretrained(folder)).save_pretrained(folder)
    said = cannot_predict(lab.load_model(folder))
    assert ("is an ELECTRA discriminator" in said) == (name == "ElectraForPreTraining")


def test_a_tokenizer_that_lesson_1_does_not_explain_shows_its_tokens(
    tiny_checkpoint: TinyCheckpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(shutil.copytree(tiny_checkpoint("gpt2"), tmp_path / "unigram"))
    cut = Tokenizer(models.Unigram())
    cut.pre_tokenizer, cut.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    cut.train_from_iterator(CORPUS, trainers.UnigramTrainer(vocab_size=300, special_tokens=["?"], unk_token="?"))
    transformers.PreTrainedTokenizerFast(tokenizer_object=cut, unk_token="?").save_pretrained(folder)
    monkeypatch.setenv("LAB_MODELS", str(folder))
    runs.model_ids.clear()
    ids = cut.encode("The cat sat.").ids
    at = visit("1_Tokenization.py", model="unigram", text="The cat sat.")
    for step in ("pieces",):
        turn_to(at, step)
        assert "does not work like the tokenizers" in words(at) and "Here are its tokens" in words(at)
        assert not any(name in words(at) for name in ("Unigram", "wordpiece_steps", "bpe_steps"))
        chips = "".join(element.proto.body for element in at.get("html"))
        below = [part.partition("<")[0] for part in chips.split("<small>")]  # "1, 12": one character, two tokens
        assert {str(token_id) for token_id in ids} <= {each for part in below for each in part.split(", ")}
