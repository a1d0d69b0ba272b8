"""The seven dimensions against loops written from their formulas, by hand, and what must hold."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lab
from lab.analysis.heads.specialization import (
    CONTENT_WORDS,
    FAR,
    FUNCTION_WORDS,
    SPECIALIZATIONS,
    head_specialization,
    relative_to_layer,
    trace_specialization,
)
from lab.analysis.heads.values import uniform_attention
from tests.analysis.matrices import Case, Weights, cases
from tests.checkpoints import Family, write_checkpoint
from tests.sentences import CAT

TAGS = [None, "DET", "NOUN", "PUNCT", "X", "VERB"]
Tags = list[str | None]


def by_loops(a: Weights, upos: Tags, entities: Tags, causal: bool) -> tuple[list[float], list[float]]:
    """Raw values of one head; and the same with long range as the mass a query sends there."""
    n = len(a)
    cells = [(i, j) for i in range(n) for j in range(i + 1 if causal else n)]
    total = sum(float(a[cell]) for cell in cells)

    def share(kind: set[int]) -> float:
        return sum(float(a[i, j]) for i, j in cells if j in kind) / total if kind else math.nan

    kinds = [{j for j in range(n) if upos[j] in tags} for tags in (FUNCTION_WORDS, CONTENT_WORDS, {"PUNCT"})]
    function_words, content_words, punctuation = map(share, kinds)
    named = share({j for j in range(n) if entities[j]})
    far = [float(a[i, j]) for i, j in cells if abs(i - j) >= FAR]
    cls, own = sum(float(a[i, 0]) for i in range(n)) / n, sum(float(a[i, i]) for i in range(n)) / n
    order = [function_words, content_words, cls, punctuation, named]
    if not far:
        return [*order, math.nan, own], [*order, math.nan, own]
    return [*order, sum(far) / len(far), own], [*order, sum(far) / n, own]


@st.composite
def tagged(draw: st.DrawFn) -> tuple[Case, Tags, Tags]:
    case = draw(cases(most=14))
    n = case[0].shape[1]
    words = st.lists(st.sampled_from(TAGS), min_size=n, max_size=n)
    names = st.lists(st.sampled_from([None, "", "GPE"]), min_size=n, max_size=n)
    return case, draw(words), draw(names)


@given(tagged())
def test_values_are_what_loops_over_cells_give(drawn: tuple[Case, Tags, Tags]) -> None:
    (attention, causal), upos, entities = drawn
    found = head_specialization(attention, upos, entities, causal=causal)
    _, base = by_loops(uniform_attention(attention.shape[1], causal)[0], upos, entities, causal)
    for head, matrix in enumerate(attention):
        raw, mass = by_loops(matrix, upos, entities, causal)
        np.testing.assert_allclose(found.raw[head], raw, rtol=1e-4, atol=2e-6)
        np.testing.assert_allclose(found.corrected[head], np.array(mass) / base, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("n", [1, 2, 5, 6, 60])
@pytest.mark.parametrize("causal", [False, True])
def test_a_uniform_head_has_no_preference(n: int, causal: bool) -> None:
    upos = [TAGS[i % len(TAGS)] for i in range(n)]
    entities = ["GPE" if i % 3 == 1 else None for i in range(n)]
    found = head_specialization(uniform_attention(n, causal), upos, entities, causal=causal)
    here = ~np.isnan(found.corrected)
    np.testing.assert_allclose(found.corrected[here], 1, rtol=1e-5)
    assert here[0].tolist() == [n > 1, n > 2, True, n > 3, n > 1, n > FAR, True]
    if n > FAR and not causal:
        assert found.values("long_range", corrected=False)[0] == pytest.approx(1 / n)


def test_kinds_are_the_documents() -> None:
    assert {"DET", "ADP", "AUX", "CCONJ", "SCONJ", "PART", "PRON"} == FUNCTION_WORDS
    assert {"NOUN", "PROPN", "VERB", "ADJ", "ADV", "NUM"} == CONTENT_WORDS
    assert [one.id for one in SPECIALIZATIONS] == [
        "function_words",
        "content_words",
        "cls",
        "punctuation",
        "entities",
        "long_range",
        "self",
    ]


@given(cases(most=14), st.data())
def test_leaving_tokens_out_keeps_distances(case: Case, data: st.DataObject) -> None:
    attention, causal = case
    n = attention.shape[1]
    keep = data.draw(st.lists(st.booleans(), min_size=n, max_size=n).filter(any))
    places = [i for i in range(n) if keep[i]]
    found = head_specialization(attention, ["NOUN"] * n, [None] * n, causal=causal, keep=keep)
    for head, matrix in enumerate(attention):
        cut = matrix[np.ix_(places, places)].astype(np.float64)
        sums = cut.sum(-1, keepdims=True)
        np.testing.assert_allclose(found.removed[head], 1 - sums.mean(), atol=1e-5)
        if (sums < 1e-3).any():
            continue  # what is left is rounding, blown up
        cut /= sums
        real = [(i, j) for i in range(len(places)) for j in range(i + 1 if causal else len(places))]
        far = [cut[cell] for cell in real if abs(places[cell[0]] - places[cell[1]]) >= FAR]
        expected = sum(far) / len(far) if far else math.nan
        np.testing.assert_allclose(found.values("long_range", False)[head], expected, rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(found.values("self", False)[head], np.diag(cut).mean(), rtol=1e-3, atol=1e-5)
        cls = cut[:, 0].mean() if keep[0] else math.nan
        np.testing.assert_allclose(found.values("cls", False)[head], cls, rtol=1e-3, atol=1e-5)


def test_radar_is_relative_to_the_heads_of_a_layer() -> None:
    layer = np.array([[0.1, 0.3, np.nan, 0.7], [0.2, 0.3, np.nan, 0.7 + 1e-8], [0.5, 0.1, np.nan, 0.7]])
    found = relative_to_layer(layer)
    np.testing.assert_allclose(found[:, 0], [0, 0.25, 1])
    np.testing.assert_allclose(found[:, 1], [1, 1, 0])
    assert np.isnan(found[:, 2]).all()
    assert found[:, 3].tolist() == [0.5] * 3
    np.testing.assert_array_equal(relative_to_layer(np.stack([layer, layer[::-1]]))[1], found[::-1])
    assert relative_to_layer(np.zeros((3, 1))).tolist() == [[0.5]] * 3


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_a_trace_is_measured_layer_by_layer(family: Family, tmp_path: Path) -> None:
    model = lab.load_model(write_checkpoint(tmp_path / family, family, seed=3))
    trace = lab.trace(model, CAT)
    upos = [TAGS[i % len(TAGS)] for i in range(len(trace))]
    found = trace_specialization(trace, upos, [None] * len(trace))
    for layer, attention in enumerate(trace.attention):
        own = head_specialization(attention, upos, [None] * len(trace), causal=family == "gpt2")
        np.testing.assert_allclose(found.raw[layer], own.raw, rtol=1e-6)
        np.testing.assert_allclose(found.corrected[layer], own.corrected, rtol=1e-6)
    assert found.removed.shape == (model.config.layers, model.config.heads)


def test_tags_of_another_text_are_refused() -> None:
    with pytest.raises(ValueError, match="between 3 tokens; there are 2 parts of speech and 2 entity"):
        head_specialization(uniform_attention(3, False), ["DET"] * 2, [None] * 2, causal=False)
