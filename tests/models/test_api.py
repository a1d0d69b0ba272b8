"""``import lab`` is for notebooks: quick, and heavy only when used."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import lab
from lab.figures.attention import weights_from
from lab.models.config import CheckpointError
from lab.models.encoding import TextError
from tests.conftest import TinyCheckpoint

ROOT = Path(__file__).parents[2]
HEAVY = ("torch", "transformers", "streamlit", "numpy", "pandas", "spacy", "tokenizers", "huggingface_hub", "plotly")


def _fresh(code: str) -> dict[str, object]:
    """Run ``code`` in a new interpreter and read the JSON it prints."""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def test_importing_lab_costs_nothing() -> None:
    code = (
        "import time; t = time.process_time(); import lab; seconds = time.process_time() - t\n"
        "import json, sys; print(json.dumps({'seconds': seconds, 'modules': sorted(sys.modules)}))"
    )
    runs = [_fresh(code) for _ in range(5)]
    assert min(float(str(run["seconds"])) for run in runs) < 0.2
    modules = runs[0]["modules"]
    assert isinstance(modules, list) and "lab" in modules
    assert not set(HEAVY) & set(modules)


def test_running_a_model_that_ships_or_a_toy_needs_no_transformers_and_no_streamlit() -> None:
    code = (
        "import json, sys, lab; run = lab.trace(lab.load_model('lab-bert'), 'The cat sat')\n"
        "run.layer(0).attention; run.logits(1)\n"
        "from lab.toy.models import constructed_toy; lab.trace(constructed_toy(5, 4), 'a b')\n"
        "print(json.dumps({'tokens': len(run), 'modules': sorted(sys.modules)}))"
    )
    run = _fresh(code)
    modules = run["modules"]
    assert isinstance(modules, list) and "torch" in modules
    assert not {"transformers", "streamlit", "pandas", "spacy"} & set(modules)


def test_every_public_name_is_there_and_no_other() -> None:
    for name in lab.__all__:
        assert getattr(lab, name) is not None
    with pytest.raises(AttributeError, match="module 'lab' has no attribute 'tracee'"):
        _ = lab.tracee


_TWO: tuple[Any, ...] = (2, np.int64(2), np.uint8(2), torch.tensor(2), torch.tensor(2, dtype=torch.uint8), np.array(2))
_NONE: tuple[Any, ...] = (True, False, np.True_, torch.tensor(True), 1.0, np.float32(1), torch.tensor(1.0), "1", None)


@pytest.mark.parametrize("two", _TWO, ids=repr)
def test_every_whole_number_is_one(tiny_checkpoint: TinyCheckpoint, two: Any) -> None:
    trace = lab.trace(lab.load_model(tiny_checkpoint("bert")), "The cat sat on the mat.")
    assert torch.equal(trace.logits(two), trace.logits(2)) and trace.logits(two).shape[0] == 1
    for several in ([two, 0], (two, 0), np.array([2, 0]), torch.tensor([2, 0]), iter([two, 0]), range(2, -1, -2)):
        assert torch.equal(trace.logits(several), trace.logits([2, 0]))
    assert trace.layer(two - two + 1) is trace.layer(1)
    with pytest.raises(IndexError, match="layers 0 to 1"):
        trace.layer(two)


@pytest.mark.parametrize("given", _NONE, ids=repr)
def test_nothing_else_is_a_whole_number(tiny_checkpoint: TinyCheckpoint, given: Any) -> None:
    trace = lab.trace(lab.load_model(tiny_checkpoint("bert")), "The cat sat on the mat.")
    for ask in (trace.layer, trace.logits, lambda each: trace.logits([0, each])):
        with pytest.raises(TypeError, match=r"whole numbers|integer tensors"):
            ask(given)
    assert trace.layer(1).index == 1 and type(trace.layer(1).index) is int, "what was refused is not remembered"


@pytest.mark.parametrize("name", ["lab-bert", Path("lab-bert")])
def test_the_name_of_a_model_is_not_a_model(name: Any) -> None:
    with pytest.raises(TypeError, match=r"lab\.load_model\('lab-bert'\)"):
        lab.trace(name, "a")
    trace = lab.trace(lab.load_model("lab-bert"), "a")
    with pytest.raises((TypeError, ValueError), match="lab-bert"):
        lab.prove(name, trace)


@pytest.mark.parametrize("name", ["x.png", "x.PDF", "x.svg", "x.csv", "x.html.zip", "x.json"])
def test_an_ending_that_no_figure_is_written_with(tmp_path: Path, name: str) -> None:
    trace = lab.trace(lab.load_model("lab-bert"), "The cat sat.")
    figure = weights_from(trace, 0, 0, 0)
    with pytest.raises(ValueError, match=r"HTML: name the file \S+\.html\."):
        figure.save(tmp_path / name, run=trace)
    assert not [*tmp_path.iterdir()]
    for ours in ("x.html", "x.HTM", "x"):
        figure.save(tmp_path / ours)
        assert b"<html" in (tmp_path / ours).read_bytes().lower()


def test_a_tokenizer_that_panics_says_so(tiny_checkpoint: TinyCheckpoint, tmp_path: Path) -> None:
    """A panic of Rust code is no Exception: it would end the thread of a page, which then never ends."""
    folder = Path(shutil.copytree(tiny_checkpoint("bert"), tmp_path / "mine"))
    content = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    content["post_processor"]["single"][0]["SpecialToken"]["id"] = "[NOBODY]"
    (folder / "tokenizer.json").write_text(json.dumps(content))
    settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    settings["tokenizer_class"] = "TokenizersBackend"
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    with pytest.raises((TextError, CheckpointError), match=r"cannot read .*tokenizer") as told:
        lab.trace(lab.load_model(folder), "The cat sat.")
    assert "\n" not in str(told.value)
