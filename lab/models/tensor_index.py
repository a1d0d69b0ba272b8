"""The index of a :class:`Trace`: every tensor with its formula, and bertscope's 45 names.

TransEasy's bertscope named 45 intermediate results of BERT. Each of these names gives the same
array here, in the same shape, computed from this trace.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from lab.models.memo import once
from lab.models.tensor_entries import DESCRIBED, EMBEDDINGS, INPUT, Described, TensorEntry

if TYPE_CHECKING:
    from lab.models.layer_trace import LayerTrace
    from lab.models.trace import Trace


# Python expressions for tensors that are not attributes of a trace: token_ids is a tuple, logits need positions.
_EXPRESSIONS = {"token_ids": 'lab.tensor(trace, "sym_token_ids")', "logits": "trace.logits(range(len(trace)))"}
_GPT = "Radford et al. 2018, eq. 2"
_BIAS, _BIAS_ADDED = re.compile(r"\.(b(_\w+)?|beta)$"), re.compile(r" \+ b_\w+")


@once
def catalogue(trace: Trace) -> tuple[TensorEntry, ...]:
    """List every tensor of ``trace``, including weights. Tensors that the model lacks are left out."""
    entries = (_entry(trace, described) for described in DESCRIBED)
    return tuple(entry for entry in entries if entry is not None)


def entry_of(trace: Trace, name: str) -> TensorEntry:
    """One entry of :func:`catalogue`. Raises KeyError for a name that the catalogue lacks."""
    described = next((described for described in DESCRIBED if described.name == name), None)
    entry = None if described is None else _entry(trace, described)
    if entry is None:
        raise KeyError(f"{trace.model.id} has no tensor {name!r}; lab.catalogue(trace) lists those it has.")
    return entry


def missing(trace: Trace, entry: TensorEntry, layer: int) -> bool:
    """Return whether ``layer`` (from 0) lacks a tensor of other layers, as ModernBERT's first lacks LayerNorm 1."""
    return entry.of_layer and _shape(trace, entry.name, layer) is None


def _entry(trace: Trace, described: Described) -> TensorEntry | None:
    if not trace.model.config.biases and _BIAS.search(described.name):
        return None  # the model has no biases; the lab's are zeros
    # Use the last layer, because the first may lack a tensor that the others have.
    shape = _shape(trace, described.name, trace.model.config.layers - 1)
    return None if shape is None else _as_in(trace, described).of_shape(shape)


def _as_in(trace: Trace, described: Described) -> Described:
    """Return the entry with formula and source for the trace's family."""
    config, tables, last = trace.model.config, trace.model.weights.embeddings, trace.model.weights.layers[-1]
    name, formula, source = described.name, described.formula, described.source
    if name == "embeddings.sum":
        formula = " + ".join(part for part in ("token", "position", "segment") if getattr(tables, part) is not None)
    elif name == "layer.output" and config.pre_norm:
        formula = "= residual; pre-norm has no LayerNorm here"
    elif name in ("layer.query", "layer.key") and last.rotary is not None:
        formula = f"{formula}, turned by its position"
    elif name == "layer.ffn_activation" and last.w_gate is not None:
        formula = f"{formula} · gate"
    if config.causal and described.group in (INPUT, EMBEDDINGS):
        source = _GPT
    if not config.biases:
        formula = _BIAS_ADDED.sub("", formula)
    return replace(described, formula=formula, source=source)


def _shape(trace: Trace, name: str, layer: int) -> tuple[int, ...] | None:
    """The shape of a tensor, or None if it is missing; large tensors and output heads' results are not computed."""
    config, weights, n = trace.model.config, trace.model.weights, len(trace)
    computed: dict[str, tuple[object, tuple[int, ...]]] = {
        "token_ids": (trace, (n,)),
        "layer.head_contribution": (trace, (config.heads, n, n)),
        "logits": (weights.vocabulary_head, (n, config.vocabulary)),
        "pair_logits": (weights.pair_head, (2,)),
        "replaced_logits": (weights.replaced_head, (n,)),
    }
    if name in computed:
        made_by, shape = computed[name]
        return None if made_by is None else shape
    tensor = _follow(trace, name, layer)
    return None if tensor is None else tuple(tensor.shape)


def expression(name: str, layer: int) -> str:
    """Return the Python expression that gives a tensor of the catalogue from ``trace``; layers count from 0."""
    path = f"layer({layer}).{name.removeprefix('layer.')}" if name.startswith("layer.") else name
    return _EXPRESSIONS.get(name, f"trace.{path}")


@torch.inference_mode()
def tensor_of(trace: Trace, name: str, layer: int = 0) -> Tensor:
    """Return the tensor that :func:`catalogue` lists under ``name``.

    ``layer`` counts from 0 and matters only for a tensor of layers. Raises KeyError for a name that is not in this
    trace's catalogue, or not in this layer.
    """
    if missing(trace, entry_of(trace, name), layer):
        raise KeyError(f"layer {layer} of {trace.model.id} has no tensor {name!r}; other layers have it.")
    if name == "token_ids":
        return torch.tensor(trace.token_ids)
    if name == "logits":
        return trace.logits(range(len(trace)))
    found = _follow(trace, name, layer)
    assert found is not None  # the tensor exists, because entry_of has found its shape
    return found


def _first_with(trace: Trace, name: str) -> int:
    """Return the first layer that has the tensor ``name`` of the catalogue; 0 for a tensor that is not of a layer."""
    entry = entry_of(trace, name)
    return next(layer for layer in range(trace.model.config.layers) if not missing(trace, entry, layer))


def _follow(trace: Trace, name: str, layer: int) -> Tensor | None:
    """Follow a path of attributes from ``trace``; None if a part of the path is missing."""
    found: Any = trace.layer(layer) if name.startswith("layer.") else trace
    for part in name.removeprefix("layer.").split("."):
        attribute, _, index = part.rstrip("]").partition("[")
        found = getattr(found, attribute)
        if found is not None and index:
            found = found[int(index)]
        if found is None:
            return None
    assert isinstance(found, Tensor)
    return found


def _is_step(entry: Described, start: str) -> bool:
    return entry.alias is not None and entry.name.startswith(start) and ".weights." not in entry.name


def _stack(read: Callable[[LayerTrace], Tensor | None]) -> Callable[[Trace], Tensor]:
    def stacked(trace: Trace) -> Tensor:
        tensors = [read(trace.layer(i)) for i in range(trace.model.config.layers)]
        kept = [tensor for tensor in tensors if tensor is not None]
        if not kept:
            raise KeyError(f"{trace.model.id} is a {trace.model.config.family} model and has no such step.")
        return torch.stack(kept)

    return stacked


def _embedding(name: str) -> Callable[[Trace], Tensor]:
    def read(trace: Trace) -> Tensor:
        tensor = getattr(trace.embeddings, name)
        if tensor is None:
            raise KeyError(f"{trace.model.id} is a {trace.model.config.family} model and has no {name} embeddings.")
        return tensor

    return read


def _per_head(name: str) -> Callable[[Trace], Tensor]:
    """Split weights by head like bertscope, as rows of torch's (out, in) matrices: (L, H, d_k, d) and (L, H, d_k)."""

    def read(trace: Trace) -> Tensor:
        heads = trace.model.config.heads
        own = [getattr(w, name) for w in trace.model.weights.layers]
        return torch.stack([(t.T if t.ndim == 2 else t).unflatten(0, (heads, -1)) for t in own])

    return read


def _weight(name: str) -> Callable[[Trace], Tensor]:
    return lambda trace: torch.stack([getattr(w, name) for w in trace.model.weights.layers])


def _reference(name: str) -> Callable[[Trace], object]:
    def read(trace: Trace) -> object:
        from lab.models.reference import reference_run

        return getattr(reference_run(trace), name) if name else reference_run(trace)

    return read


def _module(trace: Trace) -> object:
    from lab.models.reference import base_of

    return base_of(trace.model)


def _layer_reader(name: str) -> Callable[[LayerTrace], Tensor | None]:
    return lambda layer: getattr(layer, name)


_BY_NAME: dict[str, Callable[[Trace], object]] = {
    "model": _module,
    "tokenizer": lambda t: t.model.tokenizer,
    "pipeline_res": _reference(""),
    "pipeline_attns": _reference("attentions"),
    "pipeline_hiddens": _reference("hidden_states"),
    "sym_sent": lambda t: t.text,
    "sym_token_ids": lambda t: torch.tensor(t.token_ids),
    "sym_tokens": lambda t: list(t.tokens),
    "sym_seq_len": len,
    "preemb_vocab": lambda t: t.model.weights.embeddings.token,
    **{str(e.alias): _embedding(e.name.split(".")[1]) for e in DESCRIBED if _is_step(e, "embeddings.")},
    **{f"selfattn_{n}_weight": _per_head(f"w_{n[0]}") for n in ("query", "key", "value")},
    **{f"selfattn_{n}_bias": _per_head(f"b_{n[0]}") for n in ("query", "key", "value")},
    **{str(e.alias): _stack(_layer_reader(e.name.split(".")[1])) for e in DESCRIBED if _is_step(e, "layer.")},
    "selfattn_qkt_scale_soft_hidden": _stack(_layer_reader("attention")),
    "addnorm1_dense_weight": _weight("w_o"),
    "addnorm1_dense_bias": _weight("b_o"),
    "ffnn_dense_weight": _weight("w_1"),
    "ffnn_dense_bias": _weight("b_1"),
    "addnorm2_dense_weight": _weight("w_2"),
    "addnorm2_dense_bias": _weight("b_2"),
    "manual_hiddens": lambda t: t.hidden_states,
}
TRANSEASY_NAMES = tuple(_BY_NAME)


@torch.inference_mode()
def tensor(trace: Trace, name: str, layer: int | None = None) -> object:
    """Return a tensor by one of bertscope's (TransEasy's) 45 names, or by a name that :func:`catalogue` lists.

    A bertscope name gives the tensors of all layers, stacked. A name of the catalogue gives the tensor of one ``layer``
    (from 0), by default of the first layer that has this tensor. Raises KeyError, which lists bertscope's names, for
    any other name.
    """
    if name not in _BY_NAME and any(described.name == name for described in DESCRIBED):
        return tensor_of(trace, name, _first_with(trace, name) if layer is None else layer)
    if name not in _BY_NAME:
        raise KeyError(
            f"{name!r} is not a bertscope name, nor is it in lab.catalogue(trace). The {len(_BY_NAME)} bertscope "
            f"names: {', '.join(_BY_NAME)}."
        )
    if name.endswith("_bias") and not trace.model.config.biases:
        raise KeyError(f"{trace.model.id} is a {trace.model.config.family} model and has no biases.")
    return _BY_NAME[name](trace)
