"""A part of any tensor of a trace, its block in the paper's figure, and the Python that computes it."""

from __future__ import annotations

import numpy as np

from lab.analysis.layers.inspector import Cut, leading, values
from lab.analysis.words.predictions import word_of
from lab.charts.base.axes import Axis, Scale
from lab.charts.base.figure import Figure
from lab.charts.base.tables import table, to_csv
from lab.charts.cells.slices import HiddenCells, matrix_slice
from lab.charts.marks.layer_figure import Architecture, layer_figure
from lab.figures.axes import KEY, QUERY
from lab.figures.notebook import python_of
from lab.models.loading import load_model
from lab.models.tensors import catalogue, entry_of, missing
from lab.models.trace import Trace

# The most cells that are drawn, because more cells make a browser slow.
MOST_ROWS, MOST_COLUMNS = 96, 128
_TITLES = {"query": QUERY, "key": KEY}
_TOKENS = ("token", "query", "key")
_ANSWERS = ("B follows A", "B is random")


def names(traced: Trace, axis: str, places: range) -> list[str]:
    """Return the names of the places on an axis: number and name for tokens and words, otherwise the number, from 1."""
    if axis in _TOKENS:
        return [f"{i + 1} · {traced.labels[i]}" for i in places]
    if axis == "word":
        tokenizer = traced.model.tokenizer
        return [f"{i + 1} · {word_of(tokenizer, i) if tokenizer.id_to_token(i) else '(unused)'}" for i in places]
    if axis == "answer":
        return [_ANSWERS[i] for i in places]
    return [str(i + 1) for i in places]


def axis_of(traced: Trace, axis: str, places: range) -> Axis:
    """Make an axis of a figure."""
    named = axis in (*_TOKENS, "word", "answer")
    return Axis(_TITLES.get(axis, axis.capitalize()), names(traced, axis, places), counts=not named)


def where(cut: Cut) -> str:
    """Name the layer and the head of a cut for titles, counted from 1; states count from 0, which is the embeddings."""
    parts = [f"layer {cut.layer + 1}"] if cut.entry.of_layer else []
    lead = leading(cut.entry)
    parts += [f"{lead} {cut.lead if lead == 'state' else cut.lead + 1}"] if lead else []
    return ", ".join(parts)


def tensor_part(
    traced: Trace, name: str, layer: int, lead: int, rows: tuple[int, int], columns: tuple[int, int]
) -> Figure:
    """Draw a heatmap of the tensor ``name`` in ``lab.catalogue(trace)``, from ``rows[0]`` to before ``rows[1]``.

    At most :data:`MOST_ROWS` by :data:`MOST_COLUMNS` are drawn. ``lead`` is the head, or the state.
    """
    entry = entry_of(traced, name)
    cut = Cut(entry, layer, lead, range(*rows), range(*columns)).at_most(MOST_ROWS, MOST_COLUMNS)
    array = values(traced, cut)
    down = axis_of(traced, entry.axes[-2], cut.rows) if array.ndim == 2 else Axis("", [entry.name], counts=True)
    across = axis_of(traced, entry.axes[-1], cut.columns)
    masked, shift = name == "layer.scaled_scores", cut.rows.start - cut.columns.start
    window = traced.model.weights.layers[layer].window
    place = where(cut)
    domain = (0.0, 1.0) if name == "layer.attention" else None
    scale = Scale(entry.formula if len(entry.formula) <= 24 else "Value", domain)
    hidden = HiddenCells(shift, window) if masked and (traced.model.config.causal or window is not None) else None
    title = f"{name}, {place}" if place else name
    return matrix_slice(np.atleast_2d(array), (down, across), scale, title=title, hidden=hidden)


def tensor_place(traced: Trace, name: str, layer: int = 0) -> Figure:
    """Draw the figure of the paper, adapted to ``layer`` of ``traced``'s model, with the tensor's block marked."""
    config = traced.model.config
    blocks = frozenset(entry.place for entry in catalogue(traced) if not missing(traced, entry, layer))
    masked = config.causal or traced.model.weights.layers[layer].window is not None
    figure = Architecture(blocks, config.pre_norm, masked)
    return layer_figure(figure, entry_of(traced, name).place, title="Its place in the model, drawn from bottom to top")


def snippet(traced: Trace, cut: Cut) -> str:
    """Write a few lines of Python (three for a model of the catalogue) that compute the array of ``cut``.

    Raises TypeError for a model that Python code cannot make again.
    """
    model = traced.model
    if model.made is not None and model.made.func is load_model:
        imports, loaded = "import lab", f"lab.load_model({model.id!r})"
    elif model.made is not None:
        setup, loaded = python_of(model.made)
        imports = f"{setup.strip()}\nimport lab"
    else:
        raise TypeError(f"{model.id} was built by hand, so this code cannot rebuild it.")
    texts = repr(traced.text) if traced.pair is None else f"{traced.text!r}, {traced.pair!r}"
    return f"{imports}\ntrace = lab.trace({loaded}, {texts})\narray = {cut.python}"


def csv(traced: Trace, cut: Cut) -> bytes:
    """Write the array of ``cut`` as a CSV file, with the names that its rows and columns have on screen."""
    array, axes = values(traced, cut), cut.entry.axes
    rows = [cut.entry.name] if array.ndim == 1 else names(traced, axes[-2], cut.rows)
    return to_csv(table(array.reshape(len(rows), -1), rows, names(traced, axes[-1], cut.columns)))
