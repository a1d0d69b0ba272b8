"""Tensors: a part of any tensor of a run, the Python that computes it, and its place in the whole model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab.analysis.layers.inspector import (
    Cut,
    Statistics,
    leading,
    npy,
    proven_difference,
    refusal,
    statistics_of,
    values,
)
from lab.analysis.words.predictions import word_of
from lab.benches.tensors import TensorView
from lab.benches.tensors.part import BERTSCOPE, choose_anew, choose_part, choose_tensor
from lab.charts.base.axes import Axis, Scale
from lab.charts.base.chart_table import table, to_csv
from lab.charts.base.figure import Figure
from lab.charts.cells.slices import HiddenCells, matrix_slice
from lab.course.words import escaped
from lab.figures.notebook import python_of
from lab.figures.trace_axes import KEY, QUERY
from lab.models.loading import load_model
from lab.models.tensor_entries import TensorEntry
from lab.models.tensor_index import catalogue, entry_of, missing
from lab.models.trace import Trace
from lab.ui import runs
from lab.ui.bench import Proven
from lab.ui.drawing import draw
from lab.ui.screen import show_table
from lab.ui.shared.machine import Lead, MachineSetting, show_machine
from lab.ui.taking import tell

# The most cells that are drawn, because more cells make a browser slow.
MOST_ROWS, MOST_COLUMNS = 96, 128
_TITLES = {"query": QUERY, "key": KEY}
_TOKENS = ("token", "query", "key")
_ANSWERS = ("B follows A", "B is random")


def show(view: TensorView) -> Proven:
    """Draw one tensor of the catalogue; its difference from Hugging Face's follows when the badge is drawn."""
    trace, layer = view.trace, view.layer
    st.markdown("Choose a tensor to see its numbers, its place in the model, and the Python code that returns it.")
    entry = choose_tensor([entry for entry in catalogue(trace) if not missing(trace, entry, layer)])
    figure = st.container()
    with st.expander("Show only a part", icon=":material/crop:"):
        cut = choose_part(trace, entry, layer, view.head)
    with figure:
        draw(_part(trace, cut), "tensor")
        if part := part_drawn(trace, cut, view.head):
            st.caption(part)
    told = description(trace, entry)
    tell(told)
    st.markdown(told, help=BERTSCOPE)
    proof = _show_statistics(trace, cut)
    _show_files(trace, cut)
    show_place(trace, entry, layer)
    return Proven((trace,), then=partial(_show_difference, proof, trace, cut))


def _show_statistics(trace: Trace, cut: Cut) -> DeltaGenerator:
    """Draw statistics of the selection; returns the place for the proof."""
    summed = statistics_of(trace, cut)
    if summed is None:
        st.markdown("Every score of the selection is masked (−∞).")
    else:
        show_table(_statistics_table(trace, cut, summed))
        if summed.masked:
            st.caption(f"{summed.masked:,} of {cut.size:,} scores are masked (−∞), so they are left out of the sums.")
    return st.empty()


def _show_files(trace: Trace, cut: Cut) -> None:
    """Offer three lines of Python, and the selection as a file."""
    st.code(snippet(trace, cut), language="python")
    array, name = values(trace, cut.at_most(1, 1)), f"{cut.entry.name} {where(cut)}".strip()
    file = "".join(c if c.isalnum() else "-" for c in name)
    makers: dict[str, tuple[Callable[[], bytes], str]] = {
        "npy": (lambda: npy(values(trace, cut)), "application/octet-stream"),
        "csv": (partial(csv, trace, cut), "text/csv"),
    }
    with st.container(horizontal=True, vertical_alignment="center"):
        for kind, (make, mime) in makers.items():
            reason = refusal(cut, array.dtype.itemsize, kind)
            if reason:
                st.caption(reason)
                continue
            label, name, icon = f"Selection as .{kind}", f"{file}.{kind}", ":material/download:"
            st.download_button(label, make, name, mime, key=f"tensor.{kind}", icon=icon, on_click="ignore")


def _show_difference(proof: DeltaGenerator, trace: Trace, cut: Cut) -> None:
    """State the difference between this tensor and Hugging Face's, from the proof's table."""
    entry = cut.entry
    if entry.weight:
        said = "**Not compared with Hugging Face**, because this weight is read from the checkpoint, not computed."
    elif not runs.is_proven(trace):
        said = "**Not compared with Hugging Face yet.** Open the badge at the top to compare."
    elif (difference := proven_difference(runs.proof(trace), cut)) is None:
        said = "**Not compared with Hugging Face**, because the table behind the badge has no such step."
    else:
        whole = f" of layer {cut.layer + 1}" if entry.of_layer else f" at state {cut.lead}" if leading(entry) else ""
        said = f"Over the whole tensor{whole}, the largest difference from **Hugging Face** is **{difference:.1e}**."
    proof.markdown(said)


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
    scale = Scale(entry.formula if len(entry.formula) <= 24 else "Value", domain, cut=True)
    hidden = HiddenCells(shift, window) if masked and (traced.model.config.causal or window is not None) else None
    title = f"{name}, {place}" if place else name
    return matrix_slice(np.atleast_2d(array), (down, across), scale, title=title, hidden=hidden)


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


def description(trace: Trace, entry: TensorEntry) -> str:
    """Write the tensor's names, shape, formula and paper, in two lines."""
    shape = " × ".join(f"{size:,}" for size in entry.shape)
    theirs = f"**Name in bertscope**, a Python tool, {f'`{entry.alias}`' if entry.alias else 'none'}"
    if entry.alias and entry.of_layer:
        theirs += f" (all {trace.model.config.layers} layers stacked)"
    return (
        f"**{escaped(entry.group)}** · {escaped(entry.formula)} · {escaped(entry.source)}  \n"
        f"**Shape** {shape} ({escaped(' × '.join(entry.axes))}) · {theirs}"
    )


def part_drawn(trace: Trace, cut: Cut, head: int) -> str:
    """Say which part is drawn, if it is not all, and which columns belong to the head."""
    drawn, told = cut.at_most(MOST_ROWS, MOST_COLUMNS), []
    if drawn.size < cut.size:
        told.append(
            f"You see rows {_span(drawn.rows)} of the {len(cut.rows):,} selected and columns {_span(drawn.columns)} "
            f"of the {len(cut.columns):,}. Type a range to see other rows and columns."
        )
    heads = {"head columns": "columns", "head rows": "rows"}
    for axis in cut.entry.axes:
        if axis in heads:
            width = trace.model.config.head_width
            told.append(f"Head {head + 1} owns {heads[axis]} {_span(range(head * width, (head + 1) * width))}.")
    return " ".join(told)


def _span(places: range) -> str:
    return f"{places.start + 1:,} to {places.stop:,}" if len(places) > 1 else f"{places.start + 1:,}"


def _statistics_table(trace: Trace, cut: Cut, summed: Statistics) -> pd.DataFrame:
    def place(at: tuple[int, int]) -> str:
        row, column = cut.rows[at[0]], cut.columns[at[1]]
        found = [names(trace, cut.entry.axes[-1], range(column, column + 1))[0]]
        if len(cut.entry.shape) > 1:
            found.insert(0, names(trace, cut.entry.axes[-2], range(row, row + 1))[0])
        return ", ".join(found)

    axes = ", ".join(cut.entry.axes[-2:])
    others = {"mean": summed.mean, "standard deviation": summed.deviation, "norm": summed.norm}
    rows = [
        ("minimum", f"{summed.minimum:.6g}", place(summed.lowest)),
        ("maximum", f"{summed.maximum:.6g}", place(summed.highest)),
        *((name, f"{value:.6g}", "") for name, value in others.items()),
        ("share of zeros", f"{summed.zeros:.2%}", ""),
    ]
    return pd.DataFrame(rows, columns=["selection", "value", f"at ({axes})"])


def _part(trace: Trace, cut: Cut) -> partial[Figure]:
    rows, columns = ((places.start, places.stop) for places in (cut.rows, cut.columns))
    return partial(tensor_part, trace, cut.entry.name, cut.layer, cut.lead, rows, columns)


# The places of the catalogue in each part of the picture. The heads for pairs and for replaced tokens have no part.
_PARTS: Mapping[str, tuple[str, ...]] = {
    "vectors": ("token", "position", "segment", "sum", "embedding_norm", "project", "embedded", "input", "stream"),
    "attention": ("query", "key", "value", "scores", "scale", "softmax", "mix", "concat"),
    "add_1": ("projection", "add_1"),
    "neurons": ("ffn_in", "gate", "activation"),
    "add_2": ("ffn_out", "add_2", "left"),
    "word": ("final", "vocabulary"),
}
_PLACES = {place: part for part, places in _PARTS.items() for place in places}
# The tensors that the picture draws, by its parts; of two, the one that the family has.
_DRAWN: Mapping[str, tuple[str, ...]] = {
    "tokens": ("token_ids",),
    "vectors": ("layer.input",),
    "norm_1": ("layer.input_norm",),
    "attention": ("layer.attention",),
    "add_1": ("layer.attention_norm", "layer.attention_residual"),
    "norm_2": ("layer.ffn_input_norm",),
    "neurons": ("layer.ffn_activation",),
    "add_2": ("layer.output",),
    "word": ("logits",),
}


def part_of(trace: Trace, entry: TensorEntry) -> str:
    """The part of the picture that has a tensor; "" for a tensor outside the picture."""
    if entry.name == "token_ids":
        return "tokens"
    if entry.place in ("norm_1", "norm_2"):  # after a sum, or before what reads the vectors
        return entry.place if trace.model.config.pre_norm else entry.place.replace("norm", "add")
    return _PLACES.get(entry.place, "")


def drawn_at(trace: Trace, part: str, layer: int) -> str:
    """The tensor that the picture draws at a part of a layer, from 0; "" if the layer has none."""
    there = {entry.name for entry in catalogue(trace) if not missing(trace, entry, layer)}
    return next((name for name in _DRAWN.get(part, ()) if name in there), "")


def show_place(trace: Trace, entry: TensorEntry, layer: int) -> None:
    """Draw the whole model, with the part of the tensor marked; each part leads to its own tensor."""
    st.subheader("Its place in the model", anchor=False)
    lead = Lead("Show its numbers", partial(_choose, trace, layer), part_of(trace, entry))
    show_machine(trace, "tensor-place", MachineSetting(layer=layer, lead=lead))


def _choose(trace: Trace, layer: int, part: str) -> None:
    if name := drawn_at(trace, part, layer):
        choose_anew(name)
