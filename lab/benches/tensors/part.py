"""The choice of a tensor, and of a part of it."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from lab.analysis.layers.inspector import Cut, RangeError, leading, matching, parse_range, rows_of
from lab.course.words import escaped, quoted
from lab.models.tensor_entries import GROUPS, TensorEntry
from lab.models.trace import Trace
from lab.ui import selection
from lab.ui.parameter_kinds import TextParameter
from lab.ui.parameters import STATE, TENSOR, TENSOR_COLUMNS, TENSOR_ROWS
from lab.ui.screen import show_table

_ALL = "All groups"
BERTSCOPE = (
    "bertscope belongs to TransEasy, a set of Python tools for BERT. Like the lab, it names the tensors of a run."
)


def choose_tensor(entries: Sequence[TensorEntry]) -> TensorEntry:
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
        chosen = st.selectbox(label, found, key="_tensor", on_change=_choose_named)
    if chosen != asked:  # the search has found a different tensor
        choose_anew(chosen)
    with st.popover("All tensors", icon=":material/list:", type="tertiary", on_change="rerun", key="_index") as every:
        if every.open:
            st.caption(BERTSCOPE)
            show_table(_index(entries))
    return by_name[chosen]


def _choose_named() -> None:
    choose_anew(st.session_state["_tensor"])


def choose_anew(name: str) -> None:
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


def choose_part(trace: Trace, entry: TensorEntry, layer: int, head: int) -> Cut:
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
        selection.note(f"The states run from 0, the embeddings, to {layers}, so you see {layers} instead of {asked}.")
    return STATE.choose("State (0: embeddings)", range(layers + 1), min(asked, layers))


def _choose_range(field: TextParameter, axis: str, size: int) -> range:
    what = "Rows" if field == TENSOR_ROWS else "Columns"
    typed = field.line(
        f"{what}: {axis}, 1 to {size:,}",
        placeholder="all",
        help="Type a range such as 1-64, 65- or 7. An empty field selects everything.",
    )
    try:
        return parse_range(typed, size, f"{what.lower()}")
    except RangeError as error:
        st.warning(escaped(str(error)), icon=":material/straighten:")
        return range(size)
