"""A result comes back from its tables as it was, whatever it is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from lab.evidence.shipped import Provenance, read, write
from lab.evidence.tables import APART, REST, Single, to_tables

MADE = Provenance("m", "d", "code", "commit", "make")


@dataclass(frozen=True, eq=False)
class Line:
    name: str
    count: int
    share: float
    flag: bool
    each: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Whole:
    lines: tuple[Line, ...]
    none: tuple[Line, ...]
    heads: tuple[tuple[int, int], ...]
    told: tuple[tuple[Line, str], ...]
    named: Mapping[str, Line]
    counts: Mapping[str, NDArray[np.int64]]
    single: Single
    made: Provenance | None = field(default=None, metadata=APART)


@pytest.fixture
def whole() -> Whole:
    rng = np.random.default_rng(0)
    lines = tuple(
        Line(f"é {at}", at - 1, [0.1, float("nan")][at % 2], bool(at % 2), rng.normal(size=(at, 2))) for at in range(3)
    )
    counts = {"z": np.arange(6).reshape(1, 2, 3), "a": np.empty((0, 4), np.int64)}
    return Whole(lines, (), ((1, 2), (3, 4)), ((lines[0], "why"),), {"last": lines[2]}, counts, rng.normal(size=(2, 3)))


@dataclass(frozen=True, eq=False)
class Rows:
    lines: tuple[Line, ...]
    made: Provenance | None = field(default=None, metadata=APART)


def same(one: Line, other: Line) -> bool:
    return repr(one) == repr(other) and np.array_equal(one.each, other.each) and one.each.shape == other.each.shape


def test_a_result_comes_back(whole: Whole, tmp_path: Path) -> None:
    write(tmp_path, whole, MADE)
    assert {path.stem for path in tmp_path.glob("*.parquet")} == {"lines", "none", REST}
    back = read(tmp_path, Whole, "m", "d")
    assert back is not None and back.made == MADE
    assert len(back.lines) == 3 and all(map(same, back.lines, whole.lines)) and back.none == ()
    assert back.heads == whole.heads and back.told[0][1] == "why" and same(back.told[0][0], whole.lines[0])
    assert same(back.named["last"], whole.lines[2]) and list(back.counts) == ["z", "a"]
    for name, each in whole.counts.items():
        assert np.array_equal(back.counts[name], each) and back.counts[name].dtype == np.int64
        assert back.counts[name].shape == each.shape
    assert back.single.dtype == np.float64
    assert np.array_equal(back.single, whole.single.astype(np.float32).astype(np.float64))


def test_a_table_has_a_row_for_each_line(whole: Whole, tmp_path: Path) -> None:
    write(tmp_path, whole, MADE)
    assert pq.read_table(tmp_path / "lines.parquet")["name"].to_pylist() == [line.name for line in whole.lines]


def test_a_result_may_have_nothing_but_rows(whole: Whole, tmp_path: Path) -> None:
    write(tmp_path, Rows(whole.lines), MADE)
    back = read(tmp_path, Rows, "m", "d")
    assert back is not None and all(map(same, back.lines, whole.lines)) and len(back.lines) == 3


def test_a_result_of_before_leaves_nothing(whole: Whole, tmp_path: Path) -> None:
    (tmp_path / "older.parquet").touch()
    write(tmp_path, whole, MADE)
    assert read(tmp_path, Whole, "m", "d") is not None and not (tmp_path / "older.parquet").exists()


def test_what_has_no_place_in_a_table_is_refused() -> None:
    @dataclass(frozen=True)
    class Odd:
        path: Path

    with pytest.raises(TypeError, match="no place in a table"):
        to_tables(Odd(Path()))
