"""What the neuron view sends: the trace's numbers as they are, labels that are safe to draw, and its table."""

from __future__ import annotations

import numpy as np
import pytest

import lab
from lab.analysis.heads.query_neurons import NeuronRow, neuron_row
from lab.benches.neuron_view.dimensions import KEYS, drawn_keys, neurons
from lab.charts.components.neuron_view import neuron_chart
from lab.models.trace import Trace
from tests.charts.payloads import unpack
from tests.charts.samples import HOSTILE

LONG = "The word is here again. " * 60


@pytest.fixture(scope="module", params=["lab-bert", "lab-gpt2"])
def traced(request: pytest.FixtureRequest) -> Trace:
    return lab.trace(lab.load_model(request.param), LONG)


def row_of(count: int, d_k: int = 4) -> NeuronRow:
    """A row of random numbers: labels are what is looked at."""
    random = np.random.default_rng(0)
    vectors = random.normal(size=(3, count, d_k)).astype(np.float32)
    numbers = random.normal(size=(4, count)).astype(np.float32)
    whole = random.normal(size=(3, d_k)).astype(np.float32)
    return NeuronRow(
        whole[0],
        vectors[0],
        vectors[0] * whole[0],
        numbers[0],
        numbers[1],
        numbers[2],
        vectors[1],
        vectors[2],
        numbers[3],
        whole[1],
        whole[2],
        2.0,
    )


def test_what_is_sent_is_the_traces_to_the_last_bit(traced: Trace) -> None:
    row = neuron_row(traced, 1, 2, 50)
    keys = drawn_keys(row, 50, around=False)
    header, arrays = unpack(neuron_chart(row, traced.tokens, 50, keys, title="t").payload)
    layer = traced.layer(1)
    assert (arrays["query"] == layer.query[2, 50].numpy()).all()
    assert (arrays["keys"] == layer.key[2, keys].numpy()).all()
    assert (arrays["values"] == layer.value[2, keys].numpy()).all()
    assert (arrays["scaled"] == layer.scaled_scores[2, 50, keys].numpy()).all()
    assert (arrays["weights"] == layer.attention[2, 50, keys].numpy()).all()
    assert (arrays["context"] == layer.context[2, 50].numpy()).all()
    assert header["places"] == [key + 1 for key in keys] and header["place"] == 51
    assert header["logsum"] == pytest.approx(layer.scaled_scores[2, 50].double().logsumexp(0).item(), abs=1e-5)
    assert header["root"] == 32
    assert f"{row.weights.max():.4f}" in header["alt"]


def test_a_long_text_is_some_rows_and_few_bytes(traced: Trace) -> None:
    row = neuron_row(traced, 1, 2, 300)
    heaviest, near = (drawn_keys(row, 300, around) for around in (False, True))
    assert len(heaviest) == len(near) == KEYS and 300 in heaviest
    left = row.weights[[i for i in range(len(traced)) if i not in heaviest]].max()
    assert all(row.weights[i] >= left for i in heaviest if i != 300)
    assert near == list(range(near[0], near[0] + KEYS)) and 300 in near
    assert len(neuron_chart(row, traced.tokens, 300, heaviest, title="t").payload) < 20_000


def test_the_table_is_the_row(traced: Trace) -> None:
    table, row = neurons(traced, 1, 2, 300, True).table(), neuron_row(traced, 1, 2, 300)
    keys = drawn_keys(row, 300, around=True)
    assert table["weight α"].iloc[1:-1].tolist() == row.weights[keys].tolist()
    assert np.allclose(table.filter(regex="^q∘k ").iloc[1:-1].sum(axis=1), table["score q·k"].iloc[1:-1], atol=1e-4)
    assert (table.filter(regex="^αv ").iloc[-1] == row.context).all()
    assert table["weight α"].iloc[-1] == pytest.approx(1, abs=1e-5)
    assert table["‖αvW_O‖"].iloc[-1] == pytest.approx(np.linalg.norm(row.contribution), abs=1e-5)


def test_hostile_labels_are_made_visible() -> None:
    header, _ = unpack(neuron_chart(row_of(len(HOSTILE)), HOSTILE, 0, range(len(HOSTILE)), title="t").payload)
    for label in [*header["labels"], header["query_label"]]:
        assert "\u202e" not in label and "\n" not in label and len(label) <= 24
