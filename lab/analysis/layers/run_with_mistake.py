"""Run a forward pass with a mistake, and compare it with the right pass: its vectors and its predictions."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from lab.analysis.heads.switched_off import Array, moved
from lab.analysis.words.masking import hide, maskable, whole_words
from lab.analysis.words.predictions import Candidate, Prediction, candidate, predictions
from lab.models.encoding import padded
from lab.models.interventions import Interventions
from lab.models.memo import once
from lab.models.trace import Trace, changed, trace_encoding

# The number of [PAD] tokens that show the effect of an encoder's mask.
PADDING = 4


@dataclass(frozen=True, eq=False)
class Broken:
    """The right run and the broken run of the same tokens."""

    right: Trace
    broken: Trace

    @property
    def moved(self) -> Array:
        """The distance that each token's vector moves, as a share of its length, (L+1, n); padding is left out."""
        n = len(self.right) - self.right.encoding.padding
        return moved(self.right.hidden_states[:, :n], self.broken.hidden_states[:, :n])


def break_run(trace: Trace, mistakes: Interventions) -> Broken:
    """Run ``trace`` with ``mistakes``.

    If one of the mistakes is a missing padding mask, both runs read the padded text.
    """
    if not mistakes.no_padding_mask:
        return Broken(trace, changed(trace, mistakes))
    filled = _padded_run(trace)
    return Broken(filled, changed(filled, mistakes))


@once
def _padded_run(trace: Trace) -> Trace:
    filled = padded(trace.model, trace.encoding, PADDING)
    if filled is None:
        raise ValueError(f"{trace.model.id} cannot be given {PADDING} padding tokens here.")
    return trace_encoding(trace.model, filled)


def can_be_padded(trace: Trace) -> bool:
    """True if the model has a padding token and the text has room for padding."""
    return padded(trace.model, trace.encoding, PADDING) is not None


def place_asked(trace: Trace, token: int) -> int | None:
    """Return the place of the prediction: ``token``, or in an encoder that cannot hide it, the last word.

    Returns None if there is no such place.
    """
    if trace.model.headless:
        return None
    if trace.model.config.causal:
        return token
    mask = trace.model.mask
    offered = () if mask is None else maskable(trace.encoding, mask[1])
    if token in offered or not offered:
        return token if offered else None
    return (whole_words(trace.encoding, offered) or offered)[-1]


@dataclass(frozen=True)
class WordsOfRuns:
    """The most probable word of each run at one place, and the word of the right run as the broken run ranks it."""

    right: Candidate
    broken: Candidate
    kept: Candidate


@torch.inference_mode()
def words_predicted(runs: Broken, place: int) -> WordsOfRuns:
    """Return the predictions of both runs at ``place`` (from 0): for the word hidden there, or for the next token."""
    first, second = (_prediction(each, place) for each in (runs.right, runs.broken))
    tokenizer = runs.right.model.tokenizer
    best = int(first.probabilities.argmax())
    return WordsOfRuns(
        candidate(first, best, tokenizer),
        candidate(second, int(second.probabilities.argmax()), tokenizer),
        candidate(second, best, tokenizer),
    )


def _prediction(run: Trace, place: int) -> Prediction:
    mask = run.model.mask
    if not run.model.config.causal and mask is not None:
        run = trace_encoding(run.model, hide(run.encoding, [place], mask), run.interventions)
    return predictions(run, [place], [None])[0]
