"""Let the two forms of minimal pairs compete: the logit of the good form minus the logit of the bad form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import torch
from torch import Tensor

from lab.analysis.heads.values import Values
from lab.evidence.pairs import AskedPair, encodings
from lab.models.batches import ProgressFunction, by_length, logits_of, numbers_a_run, run_batch_at, unwatched
from lab.models.config import ModelConfig
from lab.models.cores import on_every_core
from lab.models.interventions import Interventions

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

Found = TypeVar("Found")
# Numbers that the runs of a batch hold in memory at once: 20 MB.
_ROOM = 5_000_000


def differences(
    model: LoadedModel,
    pairs: Sequence[AskedPair],
    changes: Interventions | None = None,
    progress: ProgressFunction = unwatched,
) -> Values:
    """Logit of the good form minus logit of the bad form, (pairs,), with ``changes`` made to the pass.

    ``progress`` receives the share done, 0 to 1, between batches; an exception it raises ends the run.
    """
    found = np.empty(len(pairs))

    def of_batch(batch: Sequence[int]) -> Values:
        own = [pairs[place] for place in batch]
        return compete(model, run_batch_at(model, encodings(own), places(own), changes or Interventions()), own)

    for batch, apart in each_batch(model, pairs, numbers_a_run, of_batch, progress):
        found[batch] = apart
    return found


def compete(model: LoadedModel, there: Tensor, pairs: Sequence[AskedPair]) -> Values:
    """Logit of the good form minus logit of the bad form, (..., b), from last hidden states ``there`` (..., b, d)."""
    words = sorted({word for pair in pairs for word in (pair.good, pair.bad)})
    logits = logits_of(model, there, words)
    at = torch.arange(len(pairs))
    good, bad = (torch.tensor([words.index(word) for word in forms]) for forms in _forms(pairs))
    return np.asarray((logits[..., at, good] - logits[..., at, bad]).numpy(), dtype=np.float64)


def places(pairs: Sequence[AskedPair]) -> Tensor:
    """Return the tokens at which the forms of the pairs compete, (b,) from 0."""
    return torch.tensor([pair.place for pair in pairs])


def _forms(pairs: Sequence[AskedPair]) -> tuple[list[int], list[int]]:
    return [pair.good for pair in pairs], [pair.bad for pair in pairs]


def each_batch(
    model: LoadedModel,
    pairs: Sequence[AskedPair],
    held: Callable[[ModelConfig, int], int],
    work: Callable[[Sequence[int]], Found],
    progress: ProgressFunction = unwatched,
) -> Iterable[tuple[list[int], Found]]:
    """Apply ``work`` to batches of pairs of equal length, on all cores; yields the places of a batch and its result.

    ``held(config, n)`` is the number of floats that a pair of n tokens keeps in memory.
    """
    batches = list(by_length(encodings(pairs), lambda n: _ROOM // held(model.config, n)))
    done = [0, *accumulate(map(len, batches))]
    return zip(batches, on_every_core(work, batches, lambda k: progress(done[k] / len(pairs))), strict=True)
