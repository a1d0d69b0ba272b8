"""The sides of a trace's matrices."""

from __future__ import annotations

import lab
from lab.figures.attention import MAP_TOKENS, attention_map, shown
from lab.figures.flow import rolled_out
from tests.conftest import TinyCheckpoint


def test_a_part_of_a_long_text_keeps_the_positions_of_its_tokens(tiny_checkpoint: TinyCheckpoint) -> None:
    """The tooltip says which token of the text it is, not which row of the drawing."""
    trace = lab.trace(lab.load_model(str(tiny_checkpoint("bert"))), "the cat sat " * 60)
    query, key = len(trace) - 1, 2
    rows, columns = shown(trace, query, key)
    assert rows.start > 0 == columns.start and len(trace) > MAP_TOKENS
    tooltip = attention_map(trace, 0, 0, query, key).spec["layer"][0]["mark"]["tooltip"]["expr"]
    assert f"(datum.q + {rows.start + 1}) + ' · ' + row_labels[datum.q]" in tooltip
    assert "(datum.k + 1) + ' · ' + column_labels[datum.k]" in tooltip
    figure = rolled_out(trace, 0, query, 1.0)
    first = len(trace) - figure.shape[1] + 1
    assert f"(datum.k + {first}) + ' · '" in figure.spec["layer"][0]["mark"]["tooltip"]["expr"]
