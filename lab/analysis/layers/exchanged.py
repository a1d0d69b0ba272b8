"""Exchange one vector between two runs: take a token's state from another sentence, and go on from there.

Meng et al. 2022, §2, did the like to find the vectors on which an answer hangs. Both sentences have equally many tokens
and their blank at the same place, so that each vector takes the place of another.
"""

from __future__ import annotations

import threading

import numpy as np
import torch
from numpy.typing import NDArray

from lab.analysis.words.in_blank import with_blank
from lab.analysis.words.predictions import prediction_at, word_of
from lab.models import forward
from lab.models.batches import ProgressFunction, unwatched
from lab.models.config import ModelConfig
from lab.models.cores import alone, breathe
from lab.models.memo import once
from lab.models.one_token import layer_at
from lab.models.trace import Trace, outputs
from lab.models.trace import trace as trace_of

# The most tokens of a sentence; the time grows faster than the square of its tokens.
MOST = 32


class NotExchangeable(ValueError):
    """The vectors of two sentences cannot be exchanged; the message is written for the learner."""


class Exchange:
    """Runs of a sentence with one vector from another sentence, layer by layer; all visitors continue the same one."""

    def __init__(self, layers: int, tokens: int) -> None:
        self._found = np.zeros((layers + 1, tokens))
        self._done = 0
        self._lock = threading.Lock()

    @property
    def finished(self) -> bool:
        return self._done == len(self._found)

    @property
    def share(self) -> float:
        """The share of the states that have been exchanged, 0 to 1."""
        return self._done / len(self._found)

    @property
    def nbytes(self) -> int:
        return self._found.nbytes

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The probability of the other sentence's best word, (L+1, n): with the state of a token after each layer."""
        return self._found

    def step(self, trace: Trace, place: int, other: Trace) -> None:
        """Exchange each token's state after one more layer, with the runs for which the exchange was made."""
        with alone(self._lock):
            if not self.finished:
                self._found[self._done] = exchanged_after(trace, place, other, self._done)
                self._done += 1


@once
def exchange(trace: Trace, place: int, other: Trace) -> Exchange:
    """Return the exchange between two runs, as far as it has been computed for any visitor."""
    return Exchange(trace.model.config.layers, len(trace))


def exchanged(trace: Trace, place: int, other: Trace, progress: ProgressFunction = unwatched) -> NDArray[np.float64]:
    """Return all probabilities of an exchange, (L+1, n); ``progress`` receives the share done after each layer."""
    found = exchange(trace, place, other)
    while not found.finished:
        found.step(trace, place, other)
        progress(found.share)
    return found.probabilities


@torch.inference_mode()
def exchanged_after(trace: Trace, place: int, other: Trace, layer: int) -> NDArray[np.float64]:
    """Return the probability at ``place`` of the word that is best in ``other``, (n,).

    In the i-th of n runs, the state of token i after ``layer`` (0: the embeddings) is that of ``other``.
    """
    model, every = trace.model, torch.arange(len(trace))
    x = trace.hidden_states[layer].repeat(len(trace), 1, 1)
    x[every, every] = other.hidden_states[layer]
    for w in model.weights.layers[layer:-1]:
        breathe()
        x = forward.run_layer(x, w, model.config).output
    last = model.config.layers - 1
    read = x[:, place] if layer > last else layer_at(x, torch.tensor([place]), model.weights.layers[last], model.config)
    logits = forward.vocabulary_logits(outputs(model, read), model.vocabulary_head, model.config)
    shares: NDArray[np.float64] = logits.double().softmax(-1)[:, best(other, place)].numpy().copy()
    return shares


def best(trace: Trace, place: int) -> int:
    """Return the id of the most probable word at a place."""
    return prediction_at(trace, place, None).best(1)[0]


def multiplications(config: ModelConfig, tokens: int) -> float:
    """Estimate the multiplications of a whole exchange: each state is followed through the layers above it."""
    one_layer = tokens * (4 * config.width**2 + 2 * config.width * config.ffn_width)
    return tokens * one_layer * config.layers * (config.layers + 1) / 2


@once
def other_run(trace: Trace, place: int, text: str) -> Trace:
    """Run a second sentence, whose vectors can take the places of those of ``trace``; a blank is written as "_".

    Raises
    ------
    NotExchangeable
        With a sentence for the learner, if the two sentences do not fit together.
    lab.models.encoding.TextError
        For a text without tokens.
    """
    if len(trace) > MOST or trace.pair is not None:
        raise NotExchangeable(f"This step reads one sentence of at most {MOST} tokens. Take a shorter one.")
    other = trace_of(trace.model, with_blank(trace.model, text))
    if len(other) != len(trace):
        raise NotExchangeable(
            f"The first sentence has {len(trace)} tokens and the second {len(other)}. Each vector takes the place of "
            "another, so both sentences need equally many."
        )
    if other.token_ids == trace.token_ids:
        raise NotExchangeable("The model reads the same in both sentences. Change a word in the second one.")
    if _blanks(other) != _blanks(trace):
        raise NotExchangeable(f"The second sentence needs its blank at the same place: token {place + 1}.")
    if best(other, place) == best(trace, place):
        word = word_of(trace.model.tokenizer, best(trace, place))
        raise NotExchangeable(
            f"In both sentences, the most probable word is “{word}”. Change a word on which the answer hangs."
        )
    return other


def _blanks(trace: Trace) -> list[int]:
    mask = trace.model.mask
    return [] if mask is None else [at for at, each in enumerate(trace.token_ids) if each == mask[1]]
