"""The heatmap: cells, labels, masks, clicks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lab.charts.base.axes import Axis, Scale
from lab.charts.cells.heatmap import heatmap
from tests.charts.samples import a_heatmap, matrix, words


def _parameter(spec: dict[str, Any], name: str) -> Any:
    (value,) = [each["value"] for each in spec["params"] if each["name"] == name]
    return value


def _scales(spec: dict[str, Any]) -> dict[str, Any]:
    return spec["layer"][0]["encoding"]["color"]["scale"]


def test_numbers_travel_as_one_flat_float32_column() -> None:
    figure = a_heatmap(3)
    assert list(figure.data.columns) == ["value"]
    np.testing.assert_array_equal(figure.data["value"].to_numpy().reshape(3, 3), matrix(3).astype(np.float32))


def test_a_figure_keeps_its_numbers_as_exact_as_they_were() -> None:
    numbers, axes, scale = (
        matrix(3).astype(np.float64) / 3,
        (Axis("Query", words(3)), Axis("Key", words(3))),
        Scale("W"),
    )
    figure = heatmap(numbers, axes, scale, title="Weights", causal=True)
    assert figure.values.dtype == np.float64 and figure.values.tolist() == np.tril(numbers).tolist()
    assert (figure.axes, figure.scale, figure.title, figure.causal) == (axes, scale, "Weights", True)


def test_equal_tokens_stay_rows_of_their_own() -> None:
    spec = a_heatmap(values=matrix(3), labels=["the", "the", "the"]).spec
    assert spec["encoding"]["x"]["scale"]["domain"] == [0, 1, 2]
    assert _parameter(spec, "row_labels") == ["the", "the", "the"]


@pytest.mark.parametrize(("rows", "columns"), [(2, 3), (1, 1), (3, 128)])
def test_a_label_for_each_row_and_column(rows: int, columns: int) -> None:
    sides = Axis("Row", ["r"] * rows), Axis("Column", ["c"] * columns)
    figure = heatmap(matrix(rows, columns), sides, Scale("Value"), title="")
    assert figure.shape == (rows, columns)
    with pytest.raises(ValueError, match=f"heatmap: {columns} columns of values but {columns + 1} labels"):
        heatmap(matrix(rows, columns), (sides[0], Axis("", ["c"] * (columns + 1))), Scale(""), title="")


@pytest.mark.parametrize("values", [np.ones(3), np.ones((1, 1, 1)), np.ones((0, 0)), 1.0])
def test_only_matrices_are_drawn(values: object) -> None:
    with pytest.raises(ValueError, match=r"expected numbers of shape \(rows, columns\), got shape"):
        a_heatmap(values=values, labels=["a", "b", "c"])


def test_moving_the_outline_leaves_the_specification_as_it_is() -> None:
    """Then Streamlit sends the outline alone and the browser mends the drawing in place."""
    specs = [a_heatmap(highlight=chosen).spec for chosen in ((None, None), (0, 1), (3, 3), (2, None), (None, 2))]
    assert len({str({**spec, "datasets": None}) for spec in specs}) == 1
    assert specs[1]["datasets"] == {"chosen_row": [{"q": 0}], "chosen_column": [], "chosen_cell": [{"q": 0, "k": 1}]}
    assert specs[3]["datasets"] == {"chosen_row": [{"q": 2}], "chosen_column": [], "chosen_cell": []}
    assert specs[4]["datasets"] == {"chosen_row": [], "chosen_column": [{"k": 2}], "chosen_cell": []}


def test_new_numbers_in_a_given_domain_leave_the_specification_as_it_is() -> None:
    first, second = (a_heatmap(values=matrix(4, seed=seed), domain=(0, 1)).spec for seed in (1, 2))
    assert first == second


def test_domains_follow_the_scale() -> None:
    signed = np.array([[0.5, -2.0], [1.0, 0.0]])
    assert _scales(a_heatmap(values=signed, signed=True, labels=["a", "b"]).spec)["domain"] == [-2.0, 2.0]
    assert _scales(a_heatmap(values=signed + 2, labels=["a", "b"]).spec)["domain"] == [0.0, 3.0]
    assert _scales(a_heatmap(values=np.zeros((2, 2)), labels=["a", "b"]).spec)["domain"] == [0.0, 1.0]
    assert _scales(a_heatmap(values=signed, domain=(-5, 5), labels=["a", "b"]).spec)["domain"] == [-5.0, 5.0]


def test_masked_cells_may_hold_anything() -> None:
    values = matrix(3)
    values[np.triu_indices(3, 1)] = -np.inf
    figure = a_heatmap(3, values=values, causal=True)
    assert np.isfinite(figure.data["value"]).all()
    assert _scales(figure.spec)["domain"][1] == pytest.approx(np.tril(matrix(3)).max())
    assert figure.table().isna().to_numpy().tolist() == (np.tri(3) == 0).tolist()
    with pytest.raises(ValueError, match="NaN or infinite"):
        a_heatmap(3, values=values)


def test_an_infinity_below_the_diagonal_is_still_refused() -> None:
    values = matrix(3)
    values[2, 0] = np.inf
    with pytest.raises(ValueError, match=r"the first at \(2, 0\)"):
        a_heatmap(values=values, causal=True)


@pytest.mark.parametrize(("size", "canvas"), [(44, False), (45, True), (128, True)])
def test_many_tokens_are_drawn_on_a_canvas(size: int, canvas: bool) -> None:
    renderer = a_heatmap(size).spec.get("usermeta", {}).get("embedOptions", {}).get("renderer")
    assert renderer == ("canvas" if canvas else None)


@pytest.mark.parametrize(("size", "numbers"), [(8, True), (9, False)])
def test_small_grids_carry_their_numbers(size: int, numbers: bool) -> None:
    layers = a_heatmap(size).spec["layer"]
    texts = [layer for layer in layers if layer["mark"]["type"] == "text" and "data" not in layer]
    assert bool(texts) == numbers


@pytest.mark.parametrize(("size", "labels"), [(128, True), (129, False)])
def test_labels_end_where_nobody_could_read_them(size: int, labels: bool) -> None:
    assert a_heatmap(size).spec["encoding"]["x"]["axis"]["labels"] is labels


def test_cells_are_clickable_on_request() -> None:
    clickable = a_heatmap().clickable().spec["layer"][0]["params"]
    assert [(each["name"], each["select"]["fields"]) for each in clickable] == [("cell", ["q", "k"])]
    assert "params" not in a_heatmap().spec["layer"][0]


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({"selection": {"cell": [{"q": 1, "k": 2}]}}, (1, 2)),
        ({"selection": {"cell": [{"q": 1.0, "k": 2.0}]}}, (1, 2)),
        ({"selection": {"cell": {}}}, None),
        ({"selection": {"cell": []}}, None),
        ({"selection": {}}, None),
        ({}, None),
        ({"selection": {"cell": [{"q": 4, "k": 0}]}}, None),
        ({"selection": {"cell": [{"q": 0, "k": -1}]}}, None),
        ({"selection": {"cell": [{"q": "1", "k": None}]}}, None),
        ({"selection": {"cell": [{"q": float("nan"), "k": 0}]}}, None),
    ],
)
def test_a_click_is_checked_against_this_matrix(event: dict[str, Any], expected: tuple[int, int] | None) -> None:
    assert a_heatmap(4).clicked(event) == expected


def test_a_click_on_a_masked_cell_chooses_nothing() -> None:
    figure = a_heatmap(4, causal=True)
    assert figure.clicked({"selection": {"cell": [{"q": 0, "k": 1}]}}) is None
    assert figure.clicked({"selection": {"cell": [{"q": 1, "k": 1}]}}) == (1, 1)


@pytest.mark.parametrize("highlight", [(4, 0), (0, 4), (-1, 0)])
def test_a_highlight_outside_is_refused(highlight: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=r"there is no (row|column) -?\d; they run from 0 to 3"):
        a_heatmap(4, highlight=highlight)


def test_titles_that_are_equal_keep_two_lines_in_the_tooltip() -> None:
    spec = a_heatmap(titles=("Token", "Token")).spec
    tooltip = spec["layer"][0]["mark"]["tooltip"]["expr"]
    assert '"Token (row)"' in tooltip
    assert '"Token (column)"' in tooltip


def test_titles_are_quoted_in_the_tooltip() -> None:
    tooltip = a_heatmap(title='Weight "x\\').spec["layer"][0]["mark"]["tooltip"]["expr"]
    assert r'"Weight \"x\\"' in tooltip


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 3), (12, 12), (40, 40), (128, 128)])
def test_cells_are_square_while_a_screen_has_room(rows: int, columns: int) -> None:
    parameters = {each["name"]: each for each in a_heatmap(rows).spec["params"]}
    square, least, most = parameters["height"]["expr"].removeprefix("clamp(").removesuffix(")").split(", ")
    assert square == f"width * {rows} / {columns}"
    assert float(least) <= float(most) <= 640, "with the words around it, a map is no higher than a screen"


@pytest.mark.parametrize(("rows", "columns"), [(40, 2), (128, 2), (2, 128), (2, 40)])
def test_ribbons_keep_a_sensible_height(rows: int, columns: int) -> None:
    sides = Axis("Row", words(rows)), Axis("Column", words(columns))
    spec = heatmap(matrix(rows, columns), sides, Scale("Value"), title="").spec
    assert 40 <= spec["height"] <= 640
