"""Sankey diagrams and influence trees: what is sent is what was given, a learner's text stays text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.analysis.flow.influence import influence_tree, repeated_tree
from lab.charts.base.plotted import Plotted, plotly_text
from lab.charts.components.tree_picture import tree_chart
from lab.charts.marks.bands import Bands, sankey
from tests.charts.payloads import unpack
from tests.charts.samples import HOSTILE


def drawn(level: list[int], start: list[int], end: list[int], weight: list[float], tokens: list[str]) -> Plotted:
    bands = Bands(np.array(level), np.array(start), np.array(end), weight)
    return sankey(bands, tokens, max(level) + 1, title="Flow", value_title="Weight", chosen=0)


def test_a_sankey_has_the_bands_it_was_given() -> None:
    found = drawn([0, 0, 1], [0, 1, 1], [1, 1, 2], [0.5, 0.25, 0.75], ["a", "<b>", "c"])
    (trace,) = found.figure.data
    assert list(trace.node.label) == ["a", "&lt;b&gt;", "&lt;b&gt;", "c"]
    assert list(zip(trace.link.source, trace.link.target, strict=True)) == [(0, 2), (1, 2), (2, 3)]
    assert list(trace.link.value) == [0.5, 0.25, 0.75]
    assert trace.link.customdata[2] == "Layer 2: from &lt;b&gt; (2) to c (3)<br>Weight 0.7500"
    assert [round(x, 1) for x in trace.node.x] == [0.0, 0.0, 0.5, 1.0]
    assert trace.node.color[0] != trace.node.color[1] == trace.node.color[3]
    assert "3 bands through 2 layers" in found.alt and "0.750, leads from “<b>” (2) to “c” (3) in layer 2" in found.alt
    assert found.table()["weight"].tolist() == [0.5, 0.25, 0.75]
    assert found.table()["key token"].tolist() == ["a", "<b>", "<b>"]


@given(st.integers(0, 999), st.integers(1, 60), st.integers(1, 5))
def test_a_token_has_one_row_in_every_column_in_the_order_of_the_text(seed: int, count: int, layers: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = {(int(rng.integers(layers)), int(rng.integers(30)), int(rng.integers(30))) for _ in range(count)}
    level, start, end = (list(column) for column in zip(*sorted(pairs), strict=True))
    (trace,) = drawn(level, start, end, rng.random(len(level)).tolist(), [f"t{i:02}" for i in range(30)]).figure.data
    rows: dict[str, set[float]] = {}
    for label, y in zip(trace.node.label, trace.node.y, strict=True):
        rows.setdefault(label, set()).add(y)
        assert 0 < y <= 1
    assert all(len(places) == 1 for places in rows.values())
    middles = [rows[label].pop() for label in sorted(rows)]
    assert middles == sorted(set(middles))


def test_hostile_tokens_are_text_to_plotly() -> None:
    for token in HOSTILE:
        assert not set(plotly_text(token)) & set("<>$\u202e\u200b\n")
    assert plotly_text("a&amp;<br>") == "a&amp;amp;&lt;br&gt;"


def test_a_weight_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="sankey"):
        drawn([0], [0], [1], [np.nan], ["a", "b", "c"])


@pytest.mark.parametrize("layered", [False, True])
def test_a_tree_travels_whole(layered: bool) -> None:
    tokens = ["the", *HOSTILE[:3], "the"]
    maps = np.random.default_rng(0).random((2, 5, 5)).astype(np.float32)
    tree = influence_tree(maps, 0, 2) if layered else repeated_tree(maps[0], 0, 2, 2)
    levels = ["After layer 2", "After layer 1", "Input"] if layered else []
    chart = tree_chart(tree, tokens, title="Tree", value_title="Weight", levels=levels)
    header, arrays = unpack(chart.payload)
    assert header["labels"][0] == "the·1" and len(header["labels"]) == len(tree)
    assert header["alt"].startswith(f"Influence tree of “the·1”: {len(tree)} nodes, 2 levels deep.")
    assert header["levels"] == levels
    for name in ("token", "parent", "depth", "weight", "product"):
        assert (arrays[name] == getattr(tree, name)).all()
    table = chart.table()
    assert len(table) == len(tree) - 1
    assert table["weight"].tolist() == tree.weight[1:].tolist()
    assert all(
        row["path"].startswith("the·1 → ") and row["path"].endswith(row["to token"]) for _, row in table.iterrows()
    )
    assert ("rolled" in arrays) == ("rollout" in table) == layered
    if tree.rolled is not None:
        assert table["rollout"].tolist() == tree.rolled[1:].tolist() == arrays["rolled"][1:].tolist()
        assert table["target is"].tolist() == [levels[depth] for depth in tree.depth[1:]]
