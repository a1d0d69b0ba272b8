"""How well the lenses of the embedded models read held-out text after each layer.

    python -m training.evaluation.lens lab-bert

The plain logit lens and the fitted one, at the places that the cards score a BERT at, and at every place but the first
of windows of 128 tokens in GPT-2. The control needs maps that do not ship, so ``make train MODEL=lens`` alone measures
it; what it found is in ``lens.json``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lab.models import forward
from lab.models.fitted_lens import FittedLens, LensReading, fitted_lens
from lab.models.loading import LoadedModel, load_model
from lab.models.trace import outputs
from training.command_line import models_asked
from training.corpus import SOURCES, TokenCorpus, held_out_corpus
from training.gpt2 import TextSampler
from training.windows import Batch, WindowSampler, mask_tokens

MODELS = ("lab-minilm", "lab-bert", "lab-gpt2")
_SEED = 7  # of the windows that the cards score
_ROWS_AT_ONCE = 32


@dataclass(frozen=True)
class Control:
    """The untrained twin of a model, and the lens from its states, the last one too, to the model's last state."""

    twin: LoadedModel
    lens: FittedLens


def space_before(model: LoadedModel) -> str:
    """What byte-level BPE keeps with the word after it."""
    return " " if model.config.causal else ""


def rows_of(model: LoadedModel, masked: int) -> int:
    """How many windows of the model hold about as many places as ``masked`` windows of a BERT."""
    return masked // 17 if model.config.causal else masked


def windows(model: LoadedModel, corpus: TokenCorpus, rows: int, seed: int) -> Iterator[Batch]:
    """``rows`` windows of ``corpus``, a few at once, with the places to read and the words that are really there.

    A BERT reads up to 64 tokens of whole sentences, 15 % of them hidden, each by [MASK]; GPT-2 reads 127 tokens and is
    asked after each but the first.
    """
    if model.config.causal:
        sampler = TextSampler(corpus, model.tokenizer, repeats=0.0, seed=seed)
        for begun in range(0, rows, _ROWS_AT_ONCE):
            yield _asked_everywhere(torch.tensor([sampler.window(128) for _ in range(begun, rows)[:_ROWS_AT_ONCE]]))
        return
    generator = torch.Generator().manual_seed(seed)
    for group in WindowSampler(corpus, SOURCES, model.tokenizer, seed=seed).groups(64, rows, pairs=False):
        yield mask_tokens(group, 0.15, model.tokenizer, generator, keep=0, swap=0)


def _asked_everywhere(ids: Tensor) -> Batch:
    """Every place of ``ids`` (b, n) but the first, which sees nothing, and the last, of which nobody knows the next."""
    inputs, following = ids[:, :-1], ids[:, 1:]
    chosen = torch.arange(inputs.numel()).view_as(inputs)[:, 1:].flatten()
    return Batch(inputs, torch.zeros_like(inputs), None, chosen, following[:, 1:].flatten())


@torch.inference_mode()
def states_at(model: LoadedModel, batch: Batch) -> Tensor:
    """All hidden states at the places of ``batch``, (L+1, k, d); the last one is before GPT-2's final LayerNorm."""
    positions = torch.arange(batch.inputs.shape[1]).expand_as(batch.inputs)
    found = []
    for start in range(0, len(batch.inputs), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        ids = batch.inputs[rows], batch.segments[rows], positions[rows]
        x = forward.embed(*ids, model.weights.embeddings, model.config.norm_eps).output
        found.append(forward.run_model(x, model.weights).flatten(1, 2))
    return torch.cat(found, dim=1)[:, batch.chosen]


@torch.inference_mode()
def logs_of(model: LoadedModel, states: Tensor) -> Tensor:
    """ln P of every word where the model's own head reads ``states``: (k, d) -> (k, vocabulary)."""
    logits = forward.vocabulary_logits(outputs(model, states), model.vocabulary_head, model.config)
    return logits.log_softmax(-1)


def compared(own: Tensor, read: Tensor, truths: Tensor) -> NDArray[np.float64]:
    """Sums over k places, from ln P of the model and of a lens, each (k, vocabulary).

    Places where the best word is the same, the true words' probability, and KL(own, read) in nats: (3,).
    """
    same = (own.argmax(-1) == read.argmax(-1)).sum()
    true = read.gather(-1, truths[:, None]).double().exp().sum()
    return np.array([float(same), float(true), float(divergences(own, read).sum())])


def divergences(own: Tensor, read: Tensor) -> Tensor:
    """KL(own, read) in nats at k places, from ln P of the model and of a lens: (k,)."""
    return (own.exp() * (own - read)).sum(-1).double()


class Mean:
    """The mean prediction of a model over places, and what its divergence from other predictions needs."""

    def __init__(self) -> None:
        self.places, self.shares, self.negative_entropy = 0, torch.zeros((), dtype=torch.float64), 0.0

    def add(self, logs: Tensor) -> None:
        """Count k places in, from ln P of the model's own output there, (k, vocabulary)."""
        shares = logs.double().exp()
        self.places += len(logs)
        self.shares = self.shares + shares.sum(0)
        self.negative_entropy += float((shares * logs).sum())

    def divergence(self, other: Mean) -> float:
        """The mean KL divergence, in nats, from the model's predictions here to the mean prediction of ``other``."""
        guess = (other.shares / other.places).log()
        return (self.negative_entropy - float(self.shares @ guess)) / self.places


def without_context(one: Mean, two: Mean) -> float:
    """The divergence of a guess without context, its mean over two halves; each half is guessed from the other.

    If one of them has no place, the other is guessed from itself.
    """
    if not (one.places and two.places):
        one = two = one if one.places else two
    return round((one.divergence(two) + two.divergence(one)) / 2, 4)


def held_out(model: LoadedModel, lens: FittedLens, control: Control | None = None, rows: int = 1500) -> dict[str, Any]:
    """What :class:`lab.models.fitted_lens.Measured` holds, as JSON; without ``control`` not how that reads.

    ``rows`` windows of a BERT, or as much text for GPT-2. The last row of both lenses is the model's own output.
    """
    layers = model.config.layers
    kinds = ("plain", "fitted") if control is None else ("plain", "fitted", "untrained")
    sums, places, halves = np.zeros((len(kinds), layers + 1, 3)), 0, [Mean(), Mean()]
    corpus = held_out_corpus(model.tokenizer, before_sentence=space_before(model))
    for number, batch in enumerate(windows(model, corpus, rows_of(model, rows), _SEED)):
        states, truths = states_at(model, batch), batch.labels
        own, places = logs_of(model, states[-1]), places + len(truths)
        halves[number % 2].add(own)
        twin = None if control is None else states_at(control.twin, batch)
        for layer in range(layers + 1):
            last = layer == layers
            sums[0, layer] += compared(own, own if last else logs_of(model, states[layer]), truths)
            sums[1, layer] += compared(own, own if last else logs_of(model, lens.guess(states[layer], layer)), truths)
            if control is not None and twin is not None:
                sums[2, layer] += compared(own, logs_of(model, control.lens.guess(twin[layer], layer)), truths)
    means = (sums / places).round(4).transpose(0, 2, 1).tolist()
    return {"places": places, "without_context": without_context(*halves)} | {
        kind: dict(zip(LensReading.__dataclass_fields__, found, strict=True))
        for kind, found in zip(kinds, means, strict=True)
    }


def in_sight(model: LoadedModel, lens: FittedLens, rows: int = 150) -> dict[str, Any]:
    """How often both lenses name the output's best word at words of a BERT that are not hidden, as JSON.

    The lens was fitted at hidden words alone.
    """
    same, places = np.zeros((2, model.config.layers + 1)), 0
    special = torch.tensor([model.tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]", "[MASK]")])
    for batch in windows(model, held_out_corpus(model.tokenizer), rows, _SEED):
        ids = batch.inputs.flatten()
        visible = torch.where(~torch.isin(ids, special))[0]
        states = states_at(model, replace(batch, chosen=visible))
        own, places = logs_of(model, states[-1]), places + len(visible)
        for layer, state in enumerate(states):
            guess = state if layer == model.config.layers else lens.guess(state, layer)
            for kind, read in enumerate((state, guess)):
                same[kind, layer] += compared(own, logs_of(model, read), ids[visible])[0]
    plain, fitted = (same / places).round(4).tolist()
    return {"places": places, "plain": plain, "fitted": fitted}


def main() -> None:
    torch.set_num_threads(1)
    for model_id in models_asked(__doc__, MODELS):
        model = load_model(model_id)
        lens = fitted_lens(model)
        assert lens is not None
        print(model_id, json.dumps(held_out(model, lens), indent=1))


if __name__ == "__main__":
    main()
