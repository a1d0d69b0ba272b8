"""``import lab`` is for notebooks: quick, and heavy only when used."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import lab
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


def test_running_a_model_that_ships_needs_no_transformers_and_no_streamlit() -> None:
    code = (
        "import json, sys, lab; run = lab.trace(lab.load_model('lab-bert'), 'The cat sat')\n"
        "run.layer(0).attention; run.logits(1)\n"
        "print(json.dumps({'tokens': len(run), 'modules': sorted(sys.modules)}))"
    )
    run = _fresh(code)
    modules = run["modules"]
    assert isinstance(modules, list) and "torch" in modules
    assert not {"transformers", "streamlit", "pandas", "spacy"} & set(modules)


def test_the_example_of_the_readme(tiny_checkpoint: TinyCheckpoint) -> None:
    model = lab.load_model(str(tiny_checkpoint("bert")))
    trace = lab.trace(model, "The cat sat on the mat.", pair=None)
    attention = trace.layer(0).attention
    assert attention.shape == (4, len(trace), len(trace))
    assert torch.allclose(attention.sum(-1), torch.ones(4, len(trace)), atol=1e-5)
    assert lab.prove(model, trace).passed
    changed = lab.trace(model, trace.text, interventions=lab.Interventions(zero_heads=frozenset({(0, 1)})))
    assert isinstance(trace, lab.Trace) and isinstance(model, lab.LoadedModel)
    assert not torch.equal(changed.hidden_states, trace.hidden_states)


def test_every_public_name_is_there_and_no_other() -> None:
    for name in lab.__all__:
        assert getattr(lab, name) is not None
    with pytest.raises(AttributeError, match="module 'lab' has no attribute 'tracee'"):
        _ = lab.tracee
