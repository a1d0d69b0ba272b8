"""Tensors: the place of a tensor in the picture of the whole model, whose parts lead to their own tensors."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import streamlit as st

from lab.benches.tensors.part import choose_anew
from lab.models.tensor_entries import TensorEntry
from lab.models.tensor_index import catalogue, missing
from lab.models.trace import Trace
from lab.ui.shared.machine import Lead, MachineSetting, show_machine

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
