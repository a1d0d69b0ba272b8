"""A notebook must give the figure it was made from: its lines are executed and the numbers compared."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import numpy as np
import pandas as pd
import pytest

import lab
from lab.analysis.words.masking import hide
from lab.charts.tokens import token_tables
from lab.figures import attention
from lab.figures.notebook import notebook, python_of
from lab.lessons.tokenization.view import token_table
from lab.models.trace import Trace, trace_encoding
from lab.models.twin import random_twin
from lab.toy.models import constructed_toy, random_toy, recut
from lab.toy.training import Plan, toy_after
from tests.checkpoints import write_checkpoint

HOSTILE = "</script> \"it's\" \\ \u202e {x} \n 'y'"


def rebuilt(call: partial[Any]) -> object:
    setup, expression = python_of(call)
    names: dict[str, object] = {}
    exec(setup, names)
    return eval(expression, names)


@pytest.fixture(scope="module")
def plain() -> Trace:
    return lab.trace(lab.load_model("lab-bert"), "The cat sat.", "Then it ran.")


@pytest.mark.parametrize("text", ["The cat sat.", HOSTILE, "héllo 👩‍👩‍👧 مرحبا"])
@pytest.mark.parametrize("pair", [None, HOSTILE])
def test_text_and_pair_come_back_to_the_letter(text: str, pair: str | None) -> None:
    traced = lab.trace(lab.load_model("lab-gpt2"), text, pair)
    again = rebuilt(partial(attention.attention_map, traced, 1, 2))
    assert isinstance(again, attention.Heatmap)
    np.testing.assert_array_equal(again.data, attention.attention_map(traced, 1, 2).data)


def test_interventions_and_hidden_words_come_back(plain: Trace) -> None:
    model, mask = plain.model, plain.model.mask
    assert mask is not None
    changes = lab.Interventions(zero_heads=frozenset({(0, 2), (1, 0)}), no_scaling=True, blocked=frozenset({(1, 2)}))
    changed = lab.trace(model, "The cat sat.", interventions=changes)
    hidden = trace_encoding(model, hide(plain.encoding, [2, 6], mask), lab.Interventions(no_positions=True))
    for traced in (changed, hidden):
        again = rebuilt(partial(attention.attention_map, traced, 2, 1))
        assert isinstance(again, attention.Heatmap)
        np.testing.assert_array_equal(again.data, attention.attention_map(traced, 2, 1).data)
        assert not np.array_equal(again.data, attention.attention_map(plain, 2, 1).data)


def test_every_kind_of_model_is_made_again() -> None:
    plan = Plan("previous", 1, 6, 6, seed=3)
    models = [
        random_twin(lab.load_model("lab-bert"), 5),
        random_toy(8, 9, seed=4),
        recut(random_toy(8, 9, seed=4), 8),
        constructed_toy(7, 9),
        toy_after(plan, 0),
    ]
    for model in models:
        traced = lab.trace(model, "a b c a")
        again = rebuilt(partial(lab.trace, traced.model, "a b c a"))
        assert isinstance(again, Trace)
        assert again.model.id == model.id
        np.testing.assert_array_equal(again.hidden_states, traced.hidden_states)


def test_a_folder_is_named_without_its_place_on_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = lab.load_model(write_checkpoint(tmp_path / "mine", "bert"))
    call = partial(attention.attention_map, lab.trace(model, "a b"), 0, 0)
    assert str(tmp_path) not in notebook(call, "x")
    monkeypatch.chdir(tmp_path)
    assert isinstance(rebuilt(call), attention.Heatmap)


def test_the_table_of_tokens_is_made_again(plain: Trace) -> None:
    again = rebuilt(partial(token_table, plain))
    assert isinstance(again, pd.DataFrame)
    pd.testing.assert_frame_equal(again, token_tables.token_table(plain.encoding))


def test_what_no_line_can_make_is_refused(plain: Trace) -> None:
    with pytest.raises(TypeError, match="ndarray cannot be written"):
        python_of(partial(attention.attention_map, plain, 0, head=np.zeros(3)))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not a public function"):
        python_of(partial(lambda traced: traced, plain))


def test_a_notebook_runs_in_jupyter(plain: Trace) -> None:
    call = partial(attention.attention_map, plain, 0, 2, 3, 2)
    made = nbformat.reads(notebook(call, HOSTILE), as_version=4)
    assert made.cells[0].cell_type == "raw" and made.cells[0].source == HOSTILE
    root = Path(lab.__file__).parents[1]
    done = nbclient.NotebookClient(made, timeout=120, resources={"metadata": {"path": str(root)}}).execute()
    figure, table = (cell.outputs[0]["data"] for cell in done.cells[-2:])
    assert "vega" in json.dumps(figure)
    expected = call().table()
    assert [word in table["text/plain"] for word in map(str, expected.columns[:3])] == [True] * 3
