"""The proof: compare every step of a trace with Hugging Face's own module, by max |difference|.

Hugging Face loads the same checkpoint with its own code and runs once with hooks that read each
submodule's input or output. The lab's code takes no part in the reference, only in the comparison.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from lab.models.cores import one_core
from lab.models.families.registry import FAMILIES
from lab.models.forward import split_heads
from lab.models.memo import once
from lab.models.reference import (
    ReferenceRun,
    after_each_layer,
    base_of,
    listening,
    not_found,
    read_tokens,
    reference_run,
)

if TYPE_CHECKING:
    import pandas as pd

    from lab.models.loading import LoadedModel
    from lab.models.trace import Trace

TOLERANCE = 1e-4
RELATIVE_TOLERANCE = 1e-5
# The number of places at which the scores of all words are compared at once.
_PLACES = 64
# The most numbers of any other step to compare at once: 2 MB.
_NUMBERS = 2**19

# The order of a run's steps; the first step that differs is the broken step.
_ORDER = (
    "input_norm",
    "query",
    "key",
    "value",
    "scores",
    "scaled_scores",
    "attention",
    "context_concat",
    "attention_output",
    "attention_residual",
    "attention_norm",
    "ffn_input_norm",
    "ffn_hidden",
    "ffn_gate",
    "ffn_activation",
    "ffn_output",
    "ffn_residual",
    "output",
)


@dataclass(frozen=True)
class ProofRow:
    """One step. ``difference`` is max |ours − theirs|, ``largest`` is max |theirs|.

    A step passes if the difference is at most 1e-4 or a hundred-thousandth of the step's largest value:
    float32 has seven digits, and GPT-2's residual stream reaches the thousands.
    """

    step: str
    layer: int | None
    shape: tuple[int, ...]
    difference: float
    largest: float

    @property
    def passed(self) -> bool:
        # The tolerance must not be looser, because the two forms of GELU differ by only 5e-4.
        return self.difference <= max(TOLERANCE, RELATIVE_TOLERANCE * self.largest)


@dataclass(frozen=True)
class Proof:
    """Every step of a trace compared with Hugging Face, in the order of computation.

    ``not_found`` names the tensors that Hugging Face did not find in the checkpoint and made itself.
    """

    rows: tuple[ProofRow, ...]
    not_found: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return all(row.passed for row in self.rows)

    @property
    def first_failure(self) -> ProofRow | None:
        """The first step that differs, at which a broken formula was applied."""
        return next((row for row in self.rows if not row.passed), None)

    @property
    def largest_difference(self) -> float:
        return max(row.difference for row in self.rows)

    def frame(self) -> pd.DataFrame:
        """Return the table of the proof's badge; layers count from 0."""
        import pandas as pd

        return pd.DataFrame([{**vars(row), "passed": row.passed} for row in self.rows])


@once
def proof_of(trace: Trace) -> Proof:
    """:func:`prove` of a trace and its own model, computed once for all visitors."""
    return prove(trace.model, trace)


def _row(step: str, layer: int | None, shape: tuple[int, ...], pairs: Iterable[tuple[Tensor, Tensor]]) -> ProofRow:
    """Make the row of a step that is compared part by part; each pair holds our part and Hugging Face's part."""
    apart, largest = [], [0.0]
    for mine, other in pairs:
        if mine.shape != other.shape:
            raise ValueError(f"{step}: our shape {tuple(mine.shape)}, theirs {tuple(other.shape)}.")
        difference, size = _largest(mine - other), _largest(other)
        if not math.isfinite(difference + size):
            # Masked scores are -inf on both sides; count inf - inf as 0.
            difference = _largest((mine - other).where(mine != other, 0.0))
            size = _largest(other.where(other.isfinite(), 0.0))
        apart.append(difference)
        largest.append(size)
    # Use PyTorch's maximum, which, unlike Python's, is nan as soon as one number is nan.
    return ProofRow(step, layer, shape, torch.tensor(apart, dtype=torch.float64).max().item(), max(largest))


def _largest(values: Tensor) -> float:
    """Return the largest absolute value; nan if one value is nan."""
    least, most = values.aminmax()
    return max(-least.item(), most.item())


def _compare(step: str, layer: int | None, ours: Tensor, theirs: Tensor) -> ProofRow:
    if ours.shape != theirs.shape:
        raise ValueError(f"{step}: our shape {tuple(ours.shape)}, theirs {tuple(theirs.shape)}.")
    # Compare a few rows or heads at a time; comparing a long text at once would take more memory than the run.
    at_once = max(1, _NUMBERS // ours[0].numel())
    return _row(step, layer, tuple(ours.shape), zip(ours.split(at_once), theirs.split(at_once), strict=True))


def _reference_attention(trace: Trace, layer: int, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
    """Scores and scaled scores from Hugging Face's queries and keys, because its module keeps no scores."""
    config, n = trace.model.config, len(trace)
    scores = torch.einsum("hid,hjd->hij", query, key)
    scaled = scores * (config.head_width**-0.5 if config.scaled_scores else 1.0)
    if trace.encoding.padding:
        scaled = scaled.where(read_tokens(trace), -torch.inf)
    if config.causal:
        scaled = scaled.where(torch.tril(torch.ones(n, n, dtype=torch.bool)), -torch.inf)
    window = trace.model.weights.layers[layer].window
    if window is not None:
        near = torch.ones(n, n, dtype=torch.bool).triu(-window).tril(window)
        scaled = scaled.where(near, -torch.inf)
    return scores, scaled


def _compared_layer(trace: Trace, layer: int, base: nn.Module, theirs: dict[str, Tensor]) -> list[ProofRow]:
    """Return the rows of a layer that has just run; ``theirs`` has the layer's steps as read by the hooks."""
    config, w = trace.model.config, trace.model.weights.layers[layer]
    for i, step in enumerate(("query", "key", "value")):
        packed = theirs[step]
        own = packed if packed.shape[-1] == config.width else packed.split(config.width, dim=-1)[i]
        theirs[step] = split_heads(own, config.heads)
    theirs["query"], theirs["key"] = FAMILIES[config.family].turned(base, layer, theirs["query"], theirs["key"])
    if w.norm_1 is None:
        del theirs["input_norm"]  # an identity
    if w.w_gate is not None:  # the gate is in one tensor with the hidden values
        theirs["ffn_hidden"], theirs["ffn_gate"] = theirs["ffn_hidden"].split(config.ffn_width, dim=-1)
    theirs["scores"], theirs["scaled_scores"] = _reference_attention(trace, layer, theirs["query"], theirs["key"])
    ours = trace.layer(layer)
    return [_compare(step, layer, getattr(ours, step), theirs[step]) for step in _ORDER if step in theirs]


def _beside_reference(trace: Trace, base: nn.Module) -> tuple[list[ProofRow], ReferenceRun]:
    """Return the rows of the embeddings and of all layers, and the reference's run.

    Each layer is compared as soon as it has run, so that only one layer is in memory at a time.
    """
    config, family = trace.model.config, FAMILIES[trace.model.config.family]
    embeddings = dict(family.embedding_places)
    if trace.embeddings.segment is None:
        embeddings.pop("segment", None)
    paths = [family.layer_path.format(layer) for layer in range(config.layers)]
    inside = [
        {step: (".".join(filter(None, (path, at))), side) for step, (at, side) in family.layer_places.items()}
        for path in paths
    ]
    rows: list[ProofRow] = []

    def compare(layer: int) -> None:
        steps = {step: read[place] for step, place in inside[layer].items()}
        for place in {*inside[layer].values()} - {*embeddings.values()}:
            del read[place]
        rows.extend(_compared_layer(trace, layer, base, steps))

    every = {*embeddings.values(), *(place for layer in inside for place in layer.values())}
    # Take the core before listening; otherwise a thread that listens and a thread that holds the core could deadlock.
    with one_core(), listening(base, every) as read, after_each_layer(base, paths, compare):
        run = reference_run(trace, attentions=False)
    ours, n = trace.embeddings, len(trace)
    first = [
        _compare(f"embeddings.{name}", None, getattr(ours, name), read[place].expand(n, -1))
        for name, place in embeddings.items()
    ]
    return [*first, _compare("embeddings.output", None, ours.output, run.hidden_states[0]), *rows], run


@torch.inference_mode()
def prove(model: LoadedModel, trace: Trace) -> Proof:
    """Compare every step of ``trace`` with Hugging Face's run of ``model`` on the same ids.

    A trace with interventions is compared with the *plain* reference, so the proof names the
    first step that the intervention changed.
    """
    if model is not trace.model:
        raise ValueError(f"this trace was made by {trace.model!r}, not by {model!r}.")
    rows, run = _beside_reference(trace, base_of(model))
    rows.append(_compare("output", None, trace.output, run.hidden_states[-1]))
    if run.logits is not None and model.weights.vocabulary_head is not None:
        rows.append(_compared_logits(trace, run.logits))
    if run.logits is not None and model.weights.replaced_head is not None:
        rows.append(_compare("replaced_logits", None, trace.replaced_logits, run.logits))
    if run.pair_logits is not None:
        rows.append(_compare("pair_logits", None, trace.pair_logits, run.pair_logits))
    return Proof(tuple(rows), not_found(model))


def _compared_logits(trace: Trace, theirs: Tensor) -> ProofRow:
    """Compare the scores of all words at all places, some places at a time, because a vocabulary is long."""
    if len(theirs) != len(trace):
        raise ValueError(f"logits: {len(trace)} tokens, theirs {len(theirs)}.")
    parts = (range(start, min(start + _PLACES, len(trace))) for start in range(0, len(trace), _PLACES))
    pairs = ((trace.logits(part), theirs[part.start : part.stop]) for part in parts)
    return _row("logits", None, tuple(theirs.shape), pairs)
