"""A component's data as bytes: what goes in comes out, and what a browser could not read is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lab.charts.components import javascript, style
from lab.charts.components.packing import pack
from tests.charts.payloads import unpack


def test_arrays_and_header_come_back() -> None:
    numbers = np.random.default_rng(0)
    arrays: dict[str, NDArray[Any]] = {
        "weights": numbers.integers(0, 65536, (3, 5, 5)).astype(np.uint16),
        "flags": numbers.integers(0, 2, 7).astype(np.uint8),
        "exact": numbers.standard_normal((2, 3)).astype(np.float32),
        "signed": numbers.integers(-9, 9, (4,)).astype(np.int32),
        "none": np.empty((0, 4), np.float32),
    }
    header, found = unpack(pack({"labels": ["café", "</script>", "日本"], "deep": {"x": [1, None, True]}}, arrays))
    assert header["labels"] == ["café", "</script>", "日本"]
    assert header["deep"] == {"x": [1, None, True]}
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


def test_strides_and_byte_order_do_not_matter() -> None:
    array = np.arange(24, dtype=np.uint16).reshape(4, 6)
    _, found = unpack(pack({}, {"turned": array.T, "every_second": array[:, ::2], "big": array.astype(">u2")}))
    np.testing.assert_array_equal(found["turned"], array.T)
    np.testing.assert_array_equal(found["every_second"], array[:, ::2])
    np.testing.assert_array_equal(found["big"], array)


def test_the_id_is_that_of_the_content() -> None:
    def id_of(label: str, value: float) -> str:
        return str(unpack(pack({"label": label}, {"x": np.array([value], np.float32)}))[0]["id"])

    assert id_of("a", 1) == id_of("a", 1)
    assert len({id_of("a", 1), id_of("a", 2), id_of("b", 1)}) == 3


def test_a_number_that_json_has_not_is_refused() -> None:
    with pytest.raises(ValueError, match="Out of range float values"):
        pack({"x": float("nan")}, {})


def test_what_the_browser_gets_is_text_and_not_a_path() -> None:
    """Streamlit takes one line of JavaScript or CSS for the path of a file."""
    for name in ("head_view",):
        assert javascript(name).count("\n") > 50 and javascript(name).count("export default") == 1
        assert style(name).count("\n") > 50
    with pytest.raises(FileNotFoundError):
        javascript("no_such_component")
