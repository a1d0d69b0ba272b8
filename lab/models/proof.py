"""The proof: every step of a trace beside Hugging Face's own module, max |difference|.

Hugging Face loads the same checkpoint with its own code and runs once with hooks that read each
submodule's input or output. Nothing of ours takes part in the reference but the comparison.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from lab.models.families.family import Place
from lab.models.families.registry import FAMILIES
from lab.models.forward import split_heads
from lab.models.memo import once

if TYPE_CHECKING:
    import pandas as pd

    from lab.models.loading import LoadedModel
    from lab.models.trace import Trace

TOLERANCE = 1e-4
RELATIVE_TOLERANCE = 1e-5
# The reference module is shared by all sessions and hooks see every run, so runs take turns.
_ONE_AT_A_TIME = threading.Lock()

# The order in which a run takes its steps; the first that differs is the one that broke.
_ORDER = (
    "input_norm", "query", "key", "value", "scores", "scaled_scores", "attention", "context_concat",
    "attention_output", "attention_residual", "attention_norm", "ffn_input_norm", "ffn_hidden", "ffn_gate",
    "ffn_activation", "ffn_output", "ffn_residual", "output",
)  # fmt: skip


@dataclass(frozen=True)
class ProofRow:
    """One step. ``difference`` is max |ours − theirs|, ``largest`` is max |theirs|.

    A step passes up to 1e-4, or a hundred-thousandth of its largest value where that is more:
    float32 carries seven digits, and GPT-2's residual stream reaches the thousands.
    """

    step: str
    layer: int | None
    shape: tuple[int, ...]
    difference: float
    largest: float

    @property
    def passed(self) -> bool:
        # No looser: the two GELUs are 5e-4 apart, and a proof must tell them from each other.
        return self.difference <= max(TOLERANCE, RELATIVE_TOLERANCE * self.largest)


@dataclass(frozen=True)
class Proof:
    """Every step of a trace against Hugging Face, in the order they are computed."""

    rows: tuple[ProofRow, ...]

    @property
    def passed(self) -> bool:
        return all(row.passed for row in self.rows)

    @property
    def first_failure(self) -> ProofRow | None:
        """The first step that differs: where a broken formula was applied."""
        return next((row for row in self.rows if not row.passed), None)

    @property
    def largest_difference(self) -> float:
        return max(row.difference for row in self.rows)

    def frame(self) -> pd.DataFrame:
        """The table the badge shows; layers count from 0."""
        import pandas as pd

        return pd.DataFrame([{**vars(row), "passed": row.passed} for row in self.rows])


@dataclass(frozen=True, eq=False)
class ReferenceRun:
    """What one run of the Hugging Face module gave: its outputs, and what the hooks read."""

    attentions: tuple[Tensor, ...]
    hidden_states: tuple[Tensor, ...]
    logits: Tensor | None
    pair_logits: Tensor | None
    steps: dict[Place, Tensor]


@once
def proof_of(trace: Trace) -> Proof:
    """:func:`prove` of a trace and its own model, once for all who look at it."""
    return prove(trace.model, trace)


def load_reference(model: LoadedModel) -> nn.Module:
    """Hugging Face's module of ``model``'s checkpoint, with just the heads the checkpoint has."""
    import transformers

    transformers.utils.logging.disable_progress_bar()
    name = FAMILIES[model.config.family].reference_class(model.weights)
    kind = getattr(transformers, name)
    if isinstance(model.source, Path):
        return kind.from_pretrained(
            model.source, attn_implementation="eager", dtype=torch.float32, use_safetensors=True
        ).eval()
    # Not load_state_dict: Hugging Face also knows a base model's names, and the old ones of LayerNorm.
    return kind.from_pretrained(
        None, config=kind.config_class(**model.source.config), state_dict=model.source.tensors,
        attn_implementation="eager", dtype=torch.float32,
    ).eval()  # fmt: skip


@contextmanager
def _listening(base: nn.Module, places: set[Place]) -> Iterator[dict[Place, Tensor]]:
    """Read the inputs and outputs of submodules while the block runs."""
    read: dict[Place, Tensor] = {}

    def reader(place: Place) -> Callable[..., None]:
        def hook(_module: nn.Module, inputs: tuple[Tensor, ...], output: Any = None) -> None:
            value = inputs[0] if place[1] == "in" else output
            tensor = value[0] if isinstance(value, tuple) else value
            # Position look-ups come as (n, d), everything else as (1, n, d).
            read[place] = tensor[0] if tensor.ndim == 3 else tensor

        return hook

    handles = []
    for place in places:
        module = base.get_submodule(place[0])
        register = module.register_forward_pre_hook if place[1] == "in" else module.register_forward_hook
        handles.append(register(reader(place)))
    try:
        yield read
    finally:
        for handle in handles:
            handle.remove()


def _places(trace: Trace) -> tuple[dict[str, Place], dict[tuple[int, str], Place]]:
    """Where Hugging Face's model computes the embeddings and the steps of each layer, by our names for them."""
    config = trace.model.config
    family = FAMILIES[config.family]
    embeddings = dict(family.embedding_places)
    if trace.embeddings.segment is None:
        embeddings.pop("segment", None)
    inside = {
        (layer, step): (".".join(filter(None, (family.layer_path.format(layer), path))), side)
        for layer in range(config.layers)
        for step, (path, side) in family.layer_places.items()
    }
    return embeddings, inside


@torch.inference_mode()
def reference_run(trace: Trace) -> ReferenceRun:
    """Run the Hugging Face module once on the trace's ids. Raises RuntimeError if it returns no attentions."""
    module = trace.model.reference()
    embeddings, inside = _places(trace)
    inputs = {"input_ids": torch.tensor([trace.token_ids])}
    if trace.model.config.segments:
        inputs["token_type_ids"] = torch.tensor([trace.segment_ids])
    if trace.encoding.padding:
        inputs["attention_mask"] = _read(trace)[None].long()
    base = module.base_model
    if not isinstance(base, nn.Module):
        raise TypeError(f"{type(module).__name__} has no base model to listen to.")
    with _ONE_AT_A_TIME, _listening(base, {*embeddings.values(), *inside.values()}) as steps:
        out = module(**inputs, output_attentions=True, output_hidden_states=True)
    # Under any implementation but eager, Transformers 5 returns an empty tuple without a word.
    if len(out.attentions) != trace.model.config.layers:
        raise RuntimeError("the reference returned no attentions; it must be loaded with the eager implementation.")
    logits = out.get("prediction_logits", out.get("logits"))
    relation = out.get("seq_relationship_logits")
    return ReferenceRun(
        attentions=tuple(a[0] for a in out.attentions),
        hidden_states=tuple(h[0] for h in out.hidden_states),
        logits=None if logits is None else logits[0],
        pair_logits=None if relation is None else relation[0],
        steps=steps,
    )


def _compare(step: str, layer: int | None, ours: Tensor, theirs: Tensor) -> ProofRow:
    if ours.shape != theirs.shape:
        raise ValueError(f"{step}: our shape {tuple(ours.shape)}, theirs {tuple(theirs.shape)}.")
    apart, largest = [], [0.0]
    # Row by row, or head by head: whole, the comparison would take more memory than the run.
    for mine, other in zip(ours, theirs, strict=True) if ours.ndim > 1 else [(ours, theirs)]:
        # Masked scores are -inf on both sides; there inf - inf is no difference.
        apart.append((mine - other).abs().where(mine != other, 0.0).max().item())
        largest.append(other.abs().where(other.isfinite(), 0.0).max().item())
    # PyTorch's maximum, unlike Python's, is nan as soon as one of them is.
    return ProofRow(step, layer, tuple(ours.shape), torch.tensor(apart, dtype=torch.float64).max().item(), max(largest))


def _read(trace: Trace) -> Tensor:
    """(n,) bool, the tokens that are no padding: what Hugging Face calls the attention mask."""
    return torch.arange(len(trace)) < len(trace) - trace.encoding.padding


def _reference_attention(trace: Trace, layer: int, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
    """Scores and scaled scores from Hugging Face's queries and keys; its module keeps neither."""
    config, n = trace.model.config, len(trace)
    scores = torch.einsum("hid,hjd->hij", query, key)
    scaled = scores * (config.head_width**-0.5 if config.scaled_scores else 1.0)
    if trace.encoding.padding:
        scaled = scaled.where(_read(trace), -torch.inf)
    if config.causal:
        scaled = scaled.where(torch.tril(torch.ones(n, n, dtype=torch.bool)), -torch.inf)
    window = trace.model.weights.layers[layer].window
    if window is not None:
        near = torch.ones(n, n, dtype=torch.bool).triu(-window).tril(window)
        scaled = scaled.where(near, -torch.inf)
    return scores, scaled


def _layer_reference(trace: Trace, run: ReferenceRun, layer: int) -> dict[str, Tensor]:
    config = trace.model.config
    _, inside = _places(trace)
    theirs = {step: run.steps[place] for (at, step), place in inside.items() if at == layer}
    for i, step in enumerate(("query", "key", "value")):
        packed = theirs[step]
        own = packed if packed.shape[-1] == config.width else packed.split(config.width, dim=-1)[i]
        theirs[step] = split_heads(own, config.heads)
    base = trace.model.reference().base_model
    assert isinstance(base, nn.Module)
    family = FAMILIES[config.family]
    theirs["query"], theirs["key"] = family.turned(base, layer, theirs["query"], theirs["key"])
    w = trace.model.weights.layers[layer]
    if w.norm_1 is None:
        del theirs["input_norm"]  # an identity
    if w.w_gate is not None:  # in one piece with what it gates
        theirs["ffn_hidden"], theirs["ffn_gate"] = theirs["ffn_hidden"].split(config.ffn_width, dim=-1)
    theirs["scores"], theirs["scaled_scores"] = _reference_attention(trace, layer, theirs["query"], theirs["key"])
    theirs["attention"] = run.attentions[layer]
    return theirs


@torch.inference_mode()
def prove(model: LoadedModel, trace: Trace) -> Proof:
    """Compare every step of ``trace`` with Hugging Face's run of ``model`` on the same ids.

    A trace with interventions is compared with the *plain* reference, so the proof names the
    first step the intervention changed.
    """
    if model is not trace.model:
        raise ValueError(f"this trace was made by {trace.model!r}, not by {model!r}.")
    run = reference_run(trace)
    embeddings = trace.embeddings
    rows = [
        _compare(f"embeddings.{name}", None, getattr(embeddings, name), run.steps[place].expand(len(trace), -1))
        for name, place in _places(trace)[0].items()
    ]
    rows.append(_compare("embeddings.output", None, embeddings.output, run.hidden_states[0]))
    for index in range(model.config.layers):
        ours, theirs = trace.layer(index), _layer_reference(trace, run, index)
        rows += [_compare(step, index, getattr(ours, step), theirs[step]) for step in _ORDER if step in theirs]
    rows.append(_compare("output", None, trace.output, run.hidden_states[-1]))
    if run.logits is not None and model.weights.vocabulary_head is not None:
        rows.append(_compare("logits", None, trace.logits(range(len(trace))), run.logits))
    if run.logits is not None and model.weights.replaced_head is not None:
        rows.append(_compare("replaced_logits", None, trace.replaced_logits, run.logits))
    if run.pair_logits is not None:
        rows.append(_compare("pair_logits", None, trace.pair_logits, run.pair_logits))
    return Proof(tuple(rows))
