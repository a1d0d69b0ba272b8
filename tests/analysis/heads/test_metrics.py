"""The metrics against loops written from their formulas, small matrices worked by hand, and what must hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import lab
from lab.analysis.heads.median import median
from lab.analysis.heads.metrics import METRICS, Metrics, attention_metrics, trace_metrics, uniform_metrics
from lab.analysis.heads.values import Values, uniform_attention
from lab.toy.models import constructed_toy
from tests.analysis.matrices import Case, Weights, cases, random_attention
from tests.checkpoints import Family, write_checkpoint
from tests.sentences import CAT


def middle(values: list[float]) -> float:
    ordered, count = sorted(values), len(values)
    return (ordered[(count - 1) // 2] + ordered[count // 2]) / 2


def deviation(values: list[float]) -> float:
    mean = sum(values) / len(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))


def by_loops(matrix: Weights, causal: bool, threshold: float) -> dict[str, tuple[float, float]]:
    """The raw and the corrected value of each metric of one head, by the metric's id, cell by cell."""
    rows = [[float(w) for w in row[: i + 1 if causal else None]] for i, row in enumerate(matrix)]
    entropies = [-sum(w * math.log(w) for w in row if w > 0) for row in rows]
    cells = [w for row in rows for w in row]
    scaled = [w * len(row) for row in rows for w in row]
    free = [row for row in rows if len(row) > 1]
    parts = [e / math.log(len(row)) for e, row in zip(entropies, rows, strict=True) if len(row) > 1]
    below, below_even = (w < threshold for w in cells), (w < 1 - 1e-5 for w in scaled)
    nan = math.nan
    return {
        "confidence_max": (max(cells), max(map(max, free), default=nan)),
        "confidence_avg": (sum(map(max, rows)) / len(rows), sum(map(max, free)) / len(free) if free else nan),
        "spread": (sum(entropies), sum(parts) / len(parts) if parts else nan),
        "sparsity": (sum(below) / len(cells), sum(below_even) / len(scaled)),
        "distribution": (middle(cells), middle(scaled)),
        "unevenness": (deviation(cells), deviation(scaled)),
    }


def table(every: Mapping[str, Values]) -> Values:
    return np.stack([every[metric.id] for metric in METRICS])


def check_by_loops(found: Metrics, attention: Weights, causal: bool, threshold: float, atol: float) -> None:
    for head, matrix in enumerate(attention):
        expected = by_loops(matrix, causal, threshold)
        for metric in METRICS:
            own = [found.values(metric.id, corrected)[head] for corrected in (False, True)]
            np.testing.assert_allclose(own, expected[metric.id], rtol=1e-4, atol=atol, err_msg=metric.id)


@given(cases(), st.sampled_from([0.01, 0.1, 0.4]))
def test_metrics_are_what_loops_over_cells_give(case: Case, threshold: float) -> None:
    attention, causal = case
    found = attention_metrics(attention, causal=causal, threshold=threshold)
    check_by_loops(found, attention, causal, threshold, atol=2e-6)
    assert (found.removed == 0).all()


@pytest.mark.parametrize("causal", [False, True])
def test_long_texts_take_the_quick_ways_and_get_the_same(causal: bool) -> None:
    attention = random_attention(5, 3, 150, causal)  # beyond the sizes sorted whole
    found = attention_metrics(attention, causal=causal)
    check_by_loops(found, attention, causal, 0.01, atol=0)


@pytest.mark.parametrize("n", [1, 2, 7, 100])
@pytest.mark.parametrize("causal", [False, True])
def test_a_uniform_head_is_the_reference(n: int, causal: bool) -> None:
    found = uniform_metrics(n, causal)
    for metric, corrected in (("spread", 1.0), ("sparsity", 0.0), ("distribution", 1.0), ("unevenness", 0.0)):
        expected = math.nan if n == 1 and metric == "spread" else corrected
        np.testing.assert_allclose(found.values(metric, corrected=True), [expected], atol=1e-5)
    lengths = range(1, n + 1) if causal else [n] * n
    assert found.raw["confidence_avg"][0] == pytest.approx(sum(1 / length for length in lengths) / n)
    assert found.raw["spread"][0] == pytest.approx(sum(math.log(length) for length in lengths), rel=1e-5)


@given(cases())
def test_values_stay_in_the_ranges_of_the_registry(case: Case) -> None:
    attention, causal = case
    found = attention_metrics(attention, causal=causal)
    for metric in METRICS:
        for corrected, high in ((False, metric.high), (True, metric.corrected_high)):
            values = found.values(metric.id, corrected)
            values = values[~np.isnan(values)]
            assert (values >= 0).all()
            assert high is None or (values <= high + 1e-5).all()


@given(cases(), st.data())
def test_leaving_tokens_out_is_cutting_and_dividing(case: Case, data: st.DataObject) -> None:
    attention, causal = case
    n = attention.shape[1]
    keep = data.draw(st.lists(st.booleans(), min_size=n, max_size=n).filter(any))
    places = [i for i in range(n) if keep[i]]
    cut = np.array([[[head[i, j] for j in places] for i in places] for head in attention])
    sums = cut.sum(-1, keepdims=True)
    expected = attention_metrics(np.divide(cut, sums, out=cut.copy(), where=sums > 0), causal=causal)
    found = attention_metrics(attention, causal=causal, keep=keep)
    np.testing.assert_allclose(table(found.raw), table(expected.raw), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(table(found.corrected), table(expected.corrected), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found.removed, 1 - sums[..., 0].mean(-1), atol=1e-5)


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_a_trace_is_measured_layer_by_layer(family: Family, tmp_path: Path) -> None:
    model = lab.load_model(write_checkpoint(tmp_path / family, family, seed=3))
    trace = lab.trace(model, CAT)
    found = trace_metrics(trace)
    theirs = torch.stack(list(lab.tensor(trace, "pipeline_attns"))).numpy()  # type: ignore[call-overload]
    for layer, attention in enumerate(theirs):
        own = attention_metrics(attention, causal=family == "gpt2")
        np.testing.assert_allclose(table(found.raw)[:, layer], table(own.raw), rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(table(found.corrected)[:, layer], table(own.corrected), rtol=1e-3, atol=1e-5)
    assert found.removed.shape == theirs.shape[:2]


def test_the_toys_averaging_head_is_the_uniform_one() -> None:
    trace = lab.trace(constructed_toy(9, 8), "c e b e c a")
    found, line = trace_metrics(trace), uniform_metrics(6, causal=False)
    for metric in METRICS:
        for corrected in (False, True):
            values = found.values(metric.id, corrected)[0]
            assert values[2] == pytest.approx(line.values(metric.id, corrected)[0], abs=1e-5)
            assert values[0] != pytest.approx(values[2], abs=1e-2)


@given(st.integers(1, 20_000), st.integers(0, 10), st.sampled_from([1, 2, 50, 10**6]))
def test_median_is_exact(count: int, seed: int, different: int) -> None:
    values = np.random.default_rng(seed).integers(0, different, count).astype(np.float32)
    assert median(values) == float(np.median(values.astype(np.float64)))


def test_median_survives_a_sample_that_misleads() -> None:
    # Every place the sample looks at is 1, nearly all others are 0.
    values = np.zeros(100_000, dtype=np.float32)
    values[:: (100_000 // 4096) | 1] = 1
    assert median(values) == 0


@pytest.mark.parametrize("keep", [[True], [False, False, False]])
def test_a_keep_that_does_not_fit_is_refused(keep: list[bool]) -> None:
    with pytest.raises(ValueError, match="each of the 3 tokens"):
        attention_metrics(uniform_attention(3, False), causal=False, keep=keep)


@pytest.mark.parametrize("shape", [(3, 3), (1, 2, 3), (1, 0, 0)])
def test_other_shapes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="heads, n, n"):
        attention_metrics(np.zeros(shape), causal=False)
