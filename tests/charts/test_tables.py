"""Tables and CSV files."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.charts.base.chart_table import table, to_csv
from tests.charts.samples import HOSTILE, matrix


def _read(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def test_repeated_names_carry_their_position() -> None:
    frame = table(np.arange(9).reshape(3, 3), ["a", "b", "a"], ["the", "cat", "the"])
    assert frame.columns.tolist() == ["the·1", "cat", "the·3"]
    assert frame.index.tolist() == ["a·1", "b", "a·3"]


def test_a_name_that_looks_like_a_repeated_one_stays_different() -> None:
    frame = table(np.ones((1, 3)), ["r"], ["the", "the·1", "the"])
    assert frame.columns.is_unique
    assert "the·1" in frame.columns


@given(st.lists(st.text(max_size=4), min_size=1, max_size=8))
def test_names_are_always_unique_and_writable(labels: list[str]) -> None:
    frame = table(np.ones((len(labels), 1)), labels, ["value"])
    assert frame.index.is_unique
    assert len(_read(to_csv(frame))) == len(labels) + 1


def test_the_long_form_leaves_out_what_does_not_exist() -> None:
    frame = table(matrix(3), ["a", "b", "c"], ["x", "y", "z"], causal=True, long=True)
    assert frame[["row", "column"]].to_numpy().tolist() == [list(pair) for pair in ("ax", "bx", "by", "cx", "cy", "cz")]
    np.testing.assert_array_equal(frame["value"], matrix(3)[np.tril_indices(3)])


def test_csv_gives_the_numbers_back() -> None:
    values = (matrix(5) - 0.5).astype(np.float32)
    frame = table(values, ["é", "日本", '"q"', "a,b", "x"], list("vwxyz"))
    back = pd.read_csv(io.BytesIO(to_csv(frame)), index_col=0)
    np.testing.assert_array_equal(back.to_numpy(dtype=np.float32), values)
    assert back.index.tolist() == frame.index.tolist()


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", " =", "  @", "\u00a0+", "\u3000＝"])
def test_formulas_are_disarmed_everywhere_but_in_numbers(start: str) -> None:
    frame = pd.DataFrame({f"{start}head": [f"{start}1+1", "safe"], "number": [-1.5, 2.0]}, index=[f"{start}row", "row"])
    rows = _read(to_csv(frame))
    assert rows[0][1] == f"'{start}head"
    assert rows[1][:2] == [f"'{start}row", f"'{start}1+1"]
    assert rows[1][2] == "-1.5"
    assert rows[2] == ["row", "safe", "2.0"]


def test_plain_row_numbers_are_not_written() -> None:
    assert to_csv(pd.DataFrame({"a": [1]})).decode("utf-8-sig") == "a\r\n1\r\n"


def test_hostile_names_stay_in_their_cells() -> None:
    rows = _read(to_csv(table(np.ones((len(HOSTILE), 2)), HOSTILE, ["a", "b"])))
    assert {len(row) for row in rows} == {3}
    assert len(rows) == len(HOSTILE) + 1
    assert not [row[0] for row in rows if row[0].startswith(("=", "+", "-", "@"))]


def test_the_frame_is_left_as_it_was() -> None:
    frame = pd.DataFrame({"=a": ["=b"]}, index=["=c"])
    to_csv(frame)
    assert frame.columns.tolist() == ["=a"]
    assert frame.index.tolist() == ["=c"]
    assert frame.iloc[0, 0] == "=b"
