"""The tensor inspector: learners choose a tensor and a part of it, and see its numbers, its place and its Python
code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab.analysis.layers.inspector import (
    Cut,
    RangeError,
    Statistics,
    leading,
    matching,
    npy,
    parse_range,
    proven_difference,
    refusal,
    rows_of,
    statistics_of,
    values,
)
from lab.benches.tensors import figures
from lab.course.words import escaped, quoted
from lab.models.tensor_entries import GROUPS, TensorEntry
from lab.models.tensors import catalogue, missing
from lab.models.trace import Trace
from lab.ui import runs, selection
from lab.ui.drawing import draw
from lab.ui.parameter_kinds import TextParameter
from lab.ui.parameters import STATE, TENSOR, TENSOR_COLUMNS, TENSOR_ROWS
from lab.ui.tables import show_table

_ALL = "All groups"
_BERTSCOPE = "bertscope belongs to TransEasy, a set of Python tools for BERT; it names a run’s tensors, too."


@dataclass(frozen=True)
class ShownTensor:
    """The cut on screen, and the place on the page for the cut's proof."""

    cut: Cut
    proof: DeltaGenerator


def show_tensor(trace: Trace, layer: int, head: int) -> ShownTensor:
    """Draw one tensor of the catalogue; :func:`show_difference` fills in the proof's part later."""
    st.markdown("Choose a tensor to see its numbers, its place in the model, and the Python code that returns it.")
    entry = _choose([entry for entry in catalogue(trace) if not missing(trace, entry, layer)])
    figure = st.container()
    with st.expander("Show only a part", icon=":material/crop:"):
        cut = _choose_part(trace, entry, layer, head)
    with figure:
        left, right = st.columns([2, 1])
        with left:
            draw(_part(trace, cut), "tensor")
            _say_drawn(trace, cut, head)
        with right:
            draw(partial(figures.tensor_place, trace, entry.name, cut.layer), "tensor-place")
    _describe(trace, entry)
    proof = _show_statistics(trace, cut)
    _take_home(trace, cut)
    return ShownTensor(cut, proof)


def _part(trace: Trace, cut: Cut) -> partial[figures.Figure]:
    rows, columns = ((places.start, places.stop) for places in (cut.rows, cut.columns))
    return partial(figures.tensor_part, trace, cut.entry.name, cut.layer, cut.lead, rows, columns)


def _choose(entries: Sequence[TensorEntry]) -> TensorEntry:
    """Let the learner choose a tensor by search, group and name; the choice stays as long as the search finds it."""
    by_name = {entry.name: entry for entry in entries}
    asked = TENSOR.chosen()
    if asked not in by_name:
        selection.note(f"There is no tensor {quoted(asked[:40])} here, so you see {escaped(TENSOR.default)}.")
        asked = TENSOR.default
        TENSOR.set(asked)
    search, groups, names = st.columns([2, 1, 2])
    with search:
        query = st.text_input("Search", key="_search", placeholder="softmax, selfattn_qkt, intermediate.dense …")
    with groups:
        there = [group for group in GROUPS if any(entry.group == group for entry in entries)]
        group = st.selectbox("Group", [_ALL, *there], key="_group")
    found = [entry.name for entry in matching(entries, query, None if group == _ALL else group)]
    if not found:
        st.info(f"No tensor is called {quoted(query)}. Try query, softmax, residual or w_1.", icon=":material/search:")
        found = [asked]
    with names:
        st.session_state["_tensor"] = asked if asked in found else found[0]
        label = f"Tensor: {len(found)} of {len(entries)}" if len(found) < len(entries) else f"Tensor: {len(found)}"
        chosen = st.selectbox(label, found, key="_tensor", on_change=_take)
    if chosen != asked:  # the search has found a different tensor
        _keep(chosen)
    with st.popover("All tensors", icon=":material/list:", type="tertiary", on_change="rerun", key="_index") as every:
        if every.open:
            st.caption(_BERTSCOPE)
            show_table(_index(entries))
    return by_name[chosen]


def _take() -> None:
    _keep(st.session_state["_tensor"])


def _keep(name: str) -> None:
    """Choose a tensor, and forget the rows and columns that were chosen for the previous tensor."""
    TENSOR.set(name)
    for field in (TENSOR_ROWS, TENSOR_COLUMNS):
        field.set("")


def _index(entries: Sequence[TensorEntry]) -> pd.DataFrame:
    rows = [
        (e.group, e.name, e.alias or "", " × ".join(map(str, e.shape)), " × ".join(e.axes), e.formula, e.source)
        for e in entries
    ]
    return pd.DataFrame(rows, columns=["group", "tensor", "bertscope’s name", "shape", "axes", "formula", "paper"])


def _choose_part(trace: Trace, entry: TensorEntry, layer: int, head: int) -> Cut:
    """Let the learner choose state, rows and columns: all rows and columns until a range is typed."""
    lead, fields = head, st.columns(3)
    if leading(entry) == "state":
        with fields[2]:
            lead = _choose_state(trace.model.config.layers)
    places = []
    for field, axis, size, place in (
        (TENSOR_ROWS, entry.axes[-2] if len(entry.shape) > 1 else None, rows_of(entry), fields[0]),
        (TENSOR_COLUMNS, entry.axes[-1], entry.shape[-1], fields[1]),
    ):
        with place:
            places.append(range(size) if axis is None else _choose_range(field, axis, size))
    return Cut(entry, layer if entry.of_layer else 0, lead if leading(entry) else 0, places[0], places[1])


def _choose_state(layers: int) -> int:
    asked = STATE.chosen()
    if asked > layers:
        selection.note(f"The states run from 0, the embeddings, to {layers}; you see {layers} instead of {asked}.")
    return STATE.choose("State (0: embeddings)", range(layers + 1), min(asked, layers))


def _choose_range(field: TextParameter, axis: str, size: int) -> range:
    what = "Rows" if field == TENSOR_ROWS else "Columns"
    typed = field.line(
        f"{what}: {axis}, 1 to {size:,}",
        placeholder="all",
        help="Type a range such as 1-64, 65- or 7. An empty field means all.",
    )
    try:
        return parse_range(typed, size, f"{what.lower()}")
    except RangeError as error:
        st.warning(escaped(str(error)), icon=":material/straighten:")
        return range(size)


def _describe(trace: Trace, entry: TensorEntry) -> None:
    """Write the tensor's names, shape, formula and paper, in two lines."""
    shape = " × ".join(f"{size:,}" for size in entry.shape)
    theirs = f"**Name in bertscope**, a Python tool, {f'`{entry.alias}`' if entry.alias else 'none'}"
    if entry.alias and entry.of_layer:
        theirs += f" (all {trace.model.config.layers} layers stacked)"
    st.markdown(
        f"**{escaped(entry.group)}** · {escaped(entry.formula)} · {escaped(entry.source)}  \n"
        f"**Shape** {shape} ({escaped(' × '.join(entry.axes))}) · {theirs}",
        help=_BERTSCOPE,
    )


def _say_drawn(trace: Trace, cut: Cut, head: int) -> None:
    """Say which part is drawn, and which columns belong to the head."""
    drawn, said = cut.at_most(figures.MOST_ROWS, figures.MOST_COLUMNS), []
    if drawn.size < cut.size:
        said.append(
            f"You see rows {_span(drawn.rows)} of the {len(cut.rows):,} selected and columns {_span(drawn.columns)} "
            f"of the {len(cut.columns):,}. Type a range to see others."
        )
    heads = {"head columns": "columns", "head rows": "rows"}
    for axis in cut.entry.axes:
        if axis in heads:
            width = trace.model.config.head_width
            said.append(f"Head {head + 1} owns {heads[axis]} {_span(range(head * width, (head + 1) * width))}.")
    if said:
        st.caption(" ".join(said))


def _span(places: range) -> str:
    return f"{places.start + 1:,} to {places.stop:,}" if len(places) > 1 else f"{places.start + 1:,}"


def _show_statistics(trace: Trace, cut: Cut) -> DeltaGenerator:
    """Draw statistics of the selection; returns the place for the proof."""
    summed = statistics_of(trace, cut)
    if summed is None:
        st.markdown("Every score of the selection is masked (−∞).")
    else:
        show_table(_statistics_table(trace, cut, summed))
        if summed.masked:
            st.caption(f"{summed.masked:,} of {cut.size:,} scores are −∞ (masked); they are left out of the sums.")
    return st.empty()


def _statistics_table(trace: Trace, cut: Cut, summed: Statistics) -> pd.DataFrame:
    def place(at: tuple[int, int]) -> str:
        row, column = cut.rows[at[0]], cut.columns[at[1]]
        found = [figures.names(trace, cut.entry.axes[-1], range(column, column + 1))[0]]
        if len(cut.entry.shape) > 1:
            found.insert(0, figures.names(trace, cut.entry.axes[-2], range(row, row + 1))[0])
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


def _take_home(trace: Trace, cut: Cut) -> None:
    """Offer three lines of Python, and the selection as a file."""
    st.code(figures.snippet(trace, cut), language="python")
    array, name = values(trace, cut.at_most(1, 1)), f"{cut.entry.name} {figures.where(cut)}".strip()
    file = "".join(c if c.isalnum() else "-" for c in name)
    makers: dict[str, tuple[Callable[[], bytes], str]] = {
        "npy": (lambda: npy(values(trace, cut)), "application/octet-stream"),
        "csv": (partial(figures.csv, trace, cut), "text/csv"),
    }
    with st.container(horizontal=True, vertical_alignment="center"):
        for kind, (make, mime) in makers.items():
            reason = refusal(cut, array.dtype.itemsize, kind)
            if reason:
                st.caption(reason)
                continue
            label, name, icon = f"Selection as .{kind}", f"{file}.{kind}", ":material/download:"
            st.download_button(label, make, name, mime, key=f"tensor.{kind}", icon=icon, on_click="ignore")


def show_difference(trace: Trace, shown: ShownTensor) -> None:
    """State the difference between this tensor and Hugging Face's, from the proof's table."""
    cut, entry = shown.cut, shown.cut.entry
    if entry.weight:
        said = "**Not compared with Hugging Face**: this weight is read from the checkpoint, not computed."
    elif not runs.is_proven(trace):
        said = "**Not compared with Hugging Face yet**: open the badge at the top to compare."
    elif (difference := proven_difference(runs.proof(trace), cut)) is None:
        said = "**Not compared with Hugging Face**: the table behind the badge has no such step."
    else:
        whole = f" of layer {cut.layer + 1}" if entry.of_layer else f" at state {cut.lead}" if leading(entry) else ""
        said = f"**Hugging Face**: max |difference| over the whole tensor{whole}: **{difference:.1e}**."
    shown.proof.markdown(said)
