"""The index of a :class:`Trace`: every tensor with its formula, and bertscope's 45 names.

TransEasy's bertscope named 45 intermediates of BERT; whoever knows those names finds the same
arrays here, in the same shapes, computed from this trace.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from lab.models.trace import LayerTrace, Trace


@dataclass(frozen=True)
class TensorEntry:
    """One tensor of a trace. ``shape`` is this trace's; a layer's tensor is listed once, per layer."""

    name: str
    alias: str | None
    group: str
    shape: tuple[int, ...]
    formula: str
    source: str


_V17 = "Vaswani et al. 2017, "
_D19 = "Devlin et al. 2019, "

# attribute of Trace.embeddings: alias, formula, source
_EMBEDDING_ENTRIES = {
    "token": ("preemb_word_emb", "E_token[id]", _D19 + "fig. 2"),
    "position": ("preemb_pos_emb", "E_position[i]", _D19 + "fig. 2"),
    "segment": ("preemb_seg_emb", "E_segment[0 or 1]", _D19 + "fig. 2"),
    "sum": ("preemb_sum_emb", "token + position + segment", _D19 + "fig. 2"),
    "norm": ("preemb_norm_sum_emb", "LayerNorm(sum)", "Ba et al. 2016"),
}
# attribute of LayerTrace: alias, group, formula, source
_LAYER_ENTRIES = {
    "input_norm": (None, "Self-attention", "LayerNorm(x)", "Radford et al. 2019, §2.3"),
    "query": ("selfattn_query_hidden", "Self-attention", "x·W_Q + b_Q", _V17 + "§3.2.2"),
    "key": ("selfattn_key_hidden", "Self-attention", "x·W_K + b_K", _V17 + "§3.2.2"),
    "value": ("selfattn_value_hidden", "Self-attention", "x·W_V + b_V", _V17 + "§3.2.2"),
    "scores": ("selfattn_qkt_hidden", "Self-attention", "QKᵀ", _V17 + "eq. 1"),
    "scaled_scores": ("selfattn_qkt_scale_hidden", "Self-attention", "QKᵀ/√d_k", _V17 + "eq. 1"),
    "attention": ("selfattn_attention", "Self-attention", "softmax(QKᵀ/√d_k)", _V17 + "eq. 1"),
    "context": ("selfattn_contvec", "Self-attention", "attention·V", _V17 + "eq. 1"),
    "context_concat": ("selfattn_contvec_concat", "Self-attention", "heads side by side", _V17 + "§3.2.2"),
    "head_contribution": (None, "Self-attention", "‖α·(x·W_V + b_V)·W_O‖", "Kobayashi et al. 2020, §3"),
    "attention_output": ("addnorm1_dense_hidden", "Add & norm 1", "concat·W_O + b_O", _V17 + "§3.2.2"),
    "attention_residual": ("addnorm1_add_hidden", "Add & norm 1", "x + attention output", _V17 + "§3.1"),
    "attention_norm": ("addnorm1_norm_hidden", "Add & norm 1", "LayerNorm(residual)", _V17 + "§3.1"),
    "ffn_input_norm": (None, "Feed-forward", "LayerNorm(residual)", "Radford et al. 2019, §2.3"),
    "ffn_hidden": ("ffnn_dense_hidden", "Feed-forward", "x·W_1 + b_1", _V17 + "eq. 2"),
    "ffn_activation": ("ffnn_dense_act", "Feed-forward", "activation(x·W_1 + b_1)", _V17 + "eq. 2"),
    "ffn_output": ("addnorm2_dense_hidden", "Add & norm 2", "activation·W_2 + b_2", _V17 + "eq. 2"),
    "ffn_residual": ("addnorm2_add_hidden", "Add & norm 2", "x + FFN output", _V17 + "§3.1"),
    "output": ("addnorm2_norm_hidden", "Add & norm 2", "LayerNorm(residual)", _V17 + "§3.1"),
}


def catalogue(trace: Trace) -> tuple[TensorEntry, ...]:
    """List every tensor of ``trace``. A step the family does not have is left out."""
    embeddings, layer, pre_norm = trace.embeddings, trace.layer(0), trace.model.config.pre_norm
    entries = [
        TensorEntry(f"embeddings.{name}", alias, "Embeddings", tuple(tensor.shape), formula, source)
        for name, (alias, formula, source) in _EMBEDDING_ENTRIES.items()
        if (tensor := getattr(embeddings, name)) is not None
    ]
    for name, (alias, group, formula, source) in _LAYER_ENTRIES.items():
        tensor = getattr(layer, name)
        if tensor is not None:
            own = "= residual; GPT-2 has no LayerNorm here" if (name, pre_norm) == ("output", True) else formula
            entries.append(TensorEntry(f"layer.{name}", alias, group, tuple(tensor.shape), own, source))
    entries.append(
        TensorEntry("hidden_states", "manual_hiddens", "Residual stream", tuple(trace.hidden_states.shape),
                    "embeddings' output, then each layer's", _V17 + "fig. 1")
    )  # fmt: skip
    return tuple(entries)


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
    """bertscope slices rows of torch's (out, in) matrices: (L, H, d_k, d) and (L, H, d_k)."""

    def read(trace: Trace) -> Tensor:
        heads = trace.model.config.heads
        own = [getattr(w, name) for w in trace.model.weights.layers]
        return torch.stack([(t.T if t.ndim == 2 else t).unflatten(0, (heads, -1)) for t in own])

    return read


def _weight(name: str) -> Callable[[Trace], Tensor]:
    return lambda trace: torch.stack([getattr(w, name) for w in trace.model.weights.layers])


def _reference(name: str) -> Callable[[Trace], object]:
    def read(trace: Trace) -> object:
        from lab.models.proof import reference_run

        return getattr(reference_run(trace), name) if name else reference_run(trace)

    return read


def _layer_reader(name: str) -> Callable[[LayerTrace], Tensor | None]:
    return lambda layer: getattr(layer, name)


_BY_NAME: dict[str, Callable[[Trace], object]] = {
    "model": lambda t: t.model.reference().base_model,
    "tokenizer": lambda t: t.model.tokenizer,
    "pipeline_res": _reference(""),
    "pipeline_attns": _reference("attentions"),
    "pipeline_hiddens": _reference("hidden_states"),
    "sym_sent": lambda t: t.text,
    "sym_token_ids": lambda t: torch.tensor(t.token_ids),
    "sym_tokens": lambda t: list(t.tokens),
    "sym_seq_len": len,
    "preemb_vocab": lambda t: t.model.weights.embeddings.token,
    **{alias: _embedding(name) for name, (alias, *_) in _EMBEDDING_ENTRIES.items()},
    **{f"selfattn_{n}_weight": _per_head(f"w_{n[0]}") for n in ("query", "key", "value")},
    **{f"selfattn_{n}_bias": _per_head(f"b_{n[0]}") for n in ("query", "key", "value")},
    **{alias: _stack(_layer_reader(name)) for name, (alias, *_) in _LAYER_ENTRIES.items() if alias},
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
def by_transeasy_name(trace: Trace, name: str) -> object:
    """Answer one of bertscope's 45 names. Raises KeyError that lists them for any other."""
    if name not in _BY_NAME:
        raise KeyError(f"{name!r} is not a bertscope name. The {len(_BY_NAME)} names: {', '.join(_BY_NAME)}.")
    return _BY_NAME[name](trace)
