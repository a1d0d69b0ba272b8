"""Checkpoints that lack a part, on every page and step: a sentence where the part is needed, and no error anywhere."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from lab.course.pages import BENCHES, LESSONS
from lab.ui import runs
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint
from tests.models.folders import change_config, change_tensors
from tests.pages.apptest import visit, walk, words
from tests.thorough import one_by_day, some


def _settings(folder: Path, **given: Any) -> None:
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **given}))


def _generator(folder: Path) -> None:
    kind: Any = transformers.ElectraForMaskedLM
    kind(kind.config_class.from_pretrained(folder)).save_pretrained(folder)


def _overflow(folder: Path) -> None:
    change_tensors(folder, lambda ts: {n: t * 1e20 if "intermediate" in n and t.ndim > 1 else t for n, t in ts.items()})


def _no_row(folder: Path) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.add_special_tokens({"mask_token": "<hide>"})
    tokenizer.save_pretrained(folder)


def _few(folder: Path) -> None:
    causal = "n_positions" in json.loads((folder / "config.json").read_text())
    change_config(folder, **{"n_positions" if causal else "max_position_embeddings": 6})
    at = ("position_embeddings.weight", "wpe.weight")
    change_tensors(folder, lambda ts: {n: t[:6].contiguous() if n.endswith(at) else t for n, t in ts.items()})


def _local(folder: Path) -> None:
    change_config(folder, local_attention=4, layer_types=["sliding_attention"] * 2)


def _bare(folder: Path) -> None:
    described = json.loads((folder / "tokenizer.json").read_text()) | {"post_processor": None}
    (folder / "tokenizer.json").write_text(json.dumps(described))
    _settings(folder, tokenizer_class="TokenizersBackend")


def _renamed(folder: Path) -> None:
    for path in (folder / "tokenizer.json", folder / "tokenizer_config.json"):
        path.write_text(path.read_text().replace('"<mask>"', '"<|blank|>"'))


def _longer(folder: Path) -> None:
    larger = transformers.AutoModelForMaskedLM.from_pretrained(folder)
    torch.manual_seed(5)
    larger.resize_token_embeddings(larger.config.vocab_size + 50, mean_resizing=False)
    larger.save_pretrained(folder)


ODD: Mapping[str, tuple[Family, Callable[[Path], None]]] = {
    "generator": ("electra", _generator),
    "overflow": ("bert", _overflow),
    "mask without a row": ("bert", _no_row),
    "six places": ("bert", _few),
    "six places from left to right": ("gpt2", _few),
    "a small window": ("modernbert", _local),
    "no special tokens": ("bert", _bare),
    "another mask": ("roberta", _renamed),
    "a longer table": ("bert", _longer),
    "no head": ("bert-headless", lambda folder: None),
}
TEXTS = ("The dog chased the cat.", "The dog {mask} the cat.")
PAGES = [each.page.removeprefix("pages/") for each in (*LESSONS, *BENCHES)]


@pytest.fixture
def odd(
    tiny_checkpoint: TinyCheckpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], str]]:
    """``odd(kind)``: put a checkpoint on the list of models; returns its name there."""

    def put(kind: str) -> str:
        family, change = ODD[kind]
        folder = Path(shutil.copytree(tiny_checkpoint(family), tmp_path / f"odd {kind}"))
        change(folder)
        monkeypatch.setenv("LAB_MODELS", str(folder))
        runs.model_ids.clear()
        return folder.name

    yield put
    runs.model_ids.clear()


@one_by_day
@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("page", some(PAGES, 4))
def test_no_page_fails_for_a_part_that_is_not_there(page: str, kind: str, odd: Callable[[str], str]) -> None:
    name = odd(kind)
    mask = (runs.model(name).mask or ("[MASK]", 0))[0]
    for text in TEXTS:
        at = visit(page, model=name, text=text.format(mask=mask))
        for step in walk(at):
            assert not at.error, step
            if kind == "overflow":
                assert "32 bits" in words(at), step
