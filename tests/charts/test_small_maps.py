"""Small maps beside each other: cells, captions, clicks, table."""

from __future__ import annotations

import numpy as np
import pytest

from lab.charts.cells.small_maps import SmallMaps, block_names, small_maps
from lab.figures.trace_axes import WEIGHT
from tests.charts.samples import words

MAPS = np.random.default_rng(0).random((3, 4, 4)).astype(np.float32)


def some_maps(causal: bool = False, highlight: int | None = None, row: int | None = None) -> SmallMaps:
    captions = [(f"Head {head + 1}", "mixed") for head in range(3)]
    figure = small_maps(MAPS, words(4), captions, WEIGHT, title="All heads", causal=causal)
    return figure if highlight is None else figure.framed(highlight, row)


def test_numbers_travel_map_after_map_row_after_row() -> None:
    data = some_maps().data
    assert list(data.columns) == ["value"]
    np.testing.assert_array_equal(data["value"].to_numpy().reshape(3, 4, 4), MAPS)


def test_a_figure_keeps_its_numbers_and_the_names_of_its_sides() -> None:
    figure = some_maps()
    assert figure.values.tolist() == MAPS.tolist() and figure.scale == WEIGHT
    assert [(axis.noun, *axis.names) for axis in figure.axes] == [
        ("Map", "Head 1", "Head 2", "Head 3"),
        ("Query", *words(4)),
        ("Key", *words(4)),
    ]


def test_a_click_names_its_map() -> None:
    figure = some_maps()
    assert figure.clicked({"selection": {"map": [{"map": 2}]}}) == 2
    assert figure.clicked({"selection": {"map": [{"map": 3}]}}) is None
    assert figure.clicked({"selection": {"map": []}}) is None
    assert figure.clicked({}) is None


def test_choosing_a_map_leaves_the_specification_as_it_is() -> None:
    specs = [some_maps(highlight=chosen, row=chosen).spec for chosen in (None, 0, 2)]
    assert len({str({**spec, "datasets": None}) for spec in specs}) == 1
    assert specs[2]["datasets"] == {
        "maps": [{"map": 0}, {"map": 1}, {"map": 2}],
        "chosen_map": [{"map": 2}],
        "chosen_row": [{"map": 0, "q": 2}, {"map": 1, "q": 2}, {"map": 2, "q": 2}],
    }


def test_table_lists_the_cells_that_exist() -> None:
    whole, causal = some_maps().table(), some_maps(causal=True).table()
    assert len(whole) == 3 * 16
    assert len(causal) == 3 * 10
    row = whole[(whole["map"] == "Head 2") & (whole["query"] == "word1") & (whole["key"] == "word2")]
    assert row["value"].item() == MAPS[1, 1, 2]


def test_alternative_tells_every_caption() -> None:
    assert some_maps().alt == ("3 maps, each 4 by 4, on one colour scale. Head 1: mixed; Head 2: mixed; Head 3: mixed.")


def test_a_frame_is_around_a_map_that_there_is() -> None:
    with pytest.raises(ValueError, match="no map 3"):
        some_maps(highlight=3)
    with pytest.raises(ValueError, match="no row 4"):
        some_maps(highlight=0, row=4)


def test_blocks_are_named_by_their_tokens() -> None:
    assert block_names(words(10), 4) == ["1–4", "5–8", "9–10"]
    assert block_names(words(3), 1) == words(3)
