"""Where a model keeps what decides: vectors of one run are put into another (activation patching).

Meng et al. 2022, §2; Heimersheim & Nanda 2024. Two sentences of equal length differ in what decides between two
words. One part at one token of the first (*clean*) is put into the second (*corrupt*), or the other way round, and the
words compete again. Clean into corrupt shows what suffices, corrupt into clean what is needed.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
from torch import Tensor

from lab.analysis.heads.values import Values
from lab.experiments.pairs import AskedPair
from lab.models import forward
from lab.models.batches import Progress, logits_of, numbers_a_run, run_batch, unwatched
from lab.models.encoding import Encoding
from lab.models.forward import PAPER, Steps
from lab.models.gradients import Parts, gradients, parts
from lab.models.interventions import contexts_become, outputs_become

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

Site = Literal["residual", "attention", "ffn", "heads"]
# Logits between clean and corrupt below which nothing is divided by them: 0.05 logits would already read as 0.1.
SMALL = 0.5
# Numbers that the layers of a chunk of runs hold at once: 20 MB.
_ROOM = 5_000_000


class NotPatchable(ValueError):
    """The two sentences cannot be patched; the message is written for the learner."""


@dataclass(frozen=True)
class Contrast:
    """Two sentences, and two words (ids ``good`` and ``bad``) that compete at one ``place`` (a token, from 0).

    The good word fits ``clean``, the bad one ``corrupt``.
    """

    clean: Encoding
    corrupt: Encoding
    place: int
    good: int
    bad: int


@dataclass(frozen=True, eq=False)
class Maps:
    """A number for each part at each of n tokens; leading dimensions, such as pairs, may stand before.

    Attributes
    ----------
    residual
        (layers + 1, n), the residual stream; 0 is the embeddings' output.
    attention, ffn
        (layers, n), what the two sublayers add to it.
    heads
        (layers, heads, n), what a head hands to W_O.
    """

    residual: Values
    attention: Values
    ffn: Values
    heads: Values


@dataclass(frozen=True, eq=False)
class Patching:
    """What each part at each token recovers: (patched − corrupt) / (clean − corrupt), logits of good less bad.

    Attributes
    ----------
    clean, corrupt
        Logit of the good word less that of the bad one in the two plain runs.
    clean_into_corrupt, corrupt_into_clean
        In both, 1 is as in the clean run and 0 as in the corrupt one. So what suffices is near 1 in the first, and
        what is needed near 0 in the second.
    estimated_into_corrupt, estimated_into_clean
        Attribution patching (Nanda 2023; Syed et al. 2023): the gradient in the run that is changed, times the
        difference of the two runs, in place of a run for each number.
    """

    clean: float
    corrupt: float
    clean_into_corrupt: Maps
    corrupt_into_clean: Maps
    estimated_into_corrupt: Maps
    estimated_into_clean: Maps


def contrast(asked: AskedPair) -> Contrast:
    """A minimal pair and its other sentence."""
    return Contrast(asked.encoding, asked.other, asked.place, asked.good, asked.bad)


def patching(model: LoadedModel, two: Contrast, progress: Progress = unwatched, least: float = SMALL) -> Patching:
    """Patch every part at every token, in both directions, and estimate the same by gradients.

    ``progress`` is told the share that is done between runs; what it raises ends the measurement.

    Raises
    ------
    NotPatchable
        If the sentences have different numbers of tokens, or differ by less than ``least`` logits.
    ValueError
        For a model without a vocabulary head.
    """
    clean, corrupt, (good, bad) = plain_parts(model, two, least)
    slope, _ = gradients(model, [two.clean, two.corrupt], partial(_read, model, two))
    share = _Share(progress, 2 * _runs(model, len(two.clean)))

    def recovered(differences: Maps) -> Maps:
        return Maps(*((getattr(differences, f.name) - bad) / (good - bad) for f in fields(Maps)))

    return Patching(
        good,
        bad,
        recovered(_exact(model, two, corrupt, clean, share)),
        recovered(_exact(model, two, clean, corrupt, share)),
        recovered(_estimate(bad, _text(slope, 1), corrupt, clean)),
        recovered(_estimate(good, _text(slope, 0), clean, corrupt)),
    )


def plain_parts(model: LoadedModel, two: Contrast, least: float = SMALL) -> tuple[Parts, Parts, tuple[float, float]]:
    """The parts of both plain runs (b = 1), and the logit differences. Raises :class:`NotPatchable`."""
    lengths = len(two.clean), len(two.corrupt)
    if lengths[0] != lengths[1]:
        raise NotPatchable(
            f"One sentence has {lengths[0]} tokens and the other {lengths[1]}. A patch puts a token's vector in the "
            "place of another's, so both need the same number of tokens."
        )
    stream = run_batch(model, [two.clean, two.corrupt])
    good, bad = _read(model, two, stream[-1]).tolist()
    if abs(good - bad) < least:
        raise NotPatchable(
            # Cut, not rounded: 0.499 is no 0.50 below 0.5.
            f"The two sentences differ by {int(100 * abs(good - bad)) / 100:.2f} logits in which word they prefer. "
            f"That is less than {least:.2g}, too little to say which part of it a patch recovers."
        )
    both = parts(model, stream)
    return _text(both, 0), _text(both, 1), (good, bad)


@torch.inference_mode()
def patched(model: LoadedModel, base: Parts, other: Parts, site: Site, layer: int, where: Tensor) -> Tensor:
    """The last hidden states (k, n, d) of k runs of ``base`` with parts of ``other`` in their places.

    Both are of one text. ``where`` is bool, (k, n) or for heads (k, H, n). ``layer`` counts from 0; of the residual
    stream, 0 is the embeddings' output and L the last layer's.
    """
    config, x = model.config, base.residual[layer].expand(len(where), -1, -1)
    if site == "residual":
        x, steps = torch.where(where[..., None], other.residual[layer], x), PAPER
    elif site == "heads":
        steps = Steps(mix_values=contexts_become(where[..., None], other.context[layer]))
    elif site == "attention":
        become = outputs_become(where[..., None], other.attention[layer], forward.project_output)
        steps = Steps(project_output=become)
    else:
        become = outputs_become(where[..., None], other.ffn[layer], forward.project_neurons)
        steps = Steps(project_neurons=become)
    for number, w in enumerate(model.weights.layers[layer:]):
        x = forward.run_layer(x, w, config, PAPER if number else steps).output
    return x


def _read(model: LoadedModel, two: Contrast, last: Tensor) -> Tensor:
    """Logit of the good word less that of the bad one, (...), from last hidden states (..., n, d)."""
    logits = logits_of(model, last[..., two.place, :], [two.good, two.bad])
    return logits[..., 0] - logits[..., 1]


def _text(both: Parts, number: int) -> Parts:
    """One text of a batch, as a batch of one."""
    return Parts(*(getattr(both, f.name)[:, number : number + 1] for f in fields(Parts)))


class _Share:
    """How much of ``total`` is done, told to ``progress``."""

    def __init__(self, progress: Progress, total: int) -> None:
        self.progress, self.total, self.done = progress, total, 0

    def more(self, count: int) -> None:
        self.done += count
        self.progress(self.done / self.total)


def _exact(model: LoadedModel, two: Contrast, base: Parts, other: Parts, share: _Share) -> Maps:
    """The logit difference with every part of ``base`` at every token replaced in turn."""
    n, heads, count = base.residual.shape[2], model.config.heads, model.config.layers
    tokens = torch.eye(n, dtype=torch.bool)
    each_head = torch.eye(heads * n, dtype=torch.bool).unflatten(1, (heads, n))
    chunk = max(1, _ROOM // numbers_a_run(model.config, n))

    def row(site: Site, layer: int) -> Values:
        found = []
        for where in (each_head if site == "heads" else tokens).split(chunk):
            found.append(_read(model, two, patched(model, base, other, site, layer, where)))
            share.more(len(where))
        return torch.cat(found).numpy().astype(np.float64)

    def rows(site: Site, layers: int) -> Values:
        return np.stack([row(site, layer) for layer in range(layers)])

    by_head = rows("heads", count).reshape(count, heads, n)
    return Maps(rows("residual", count + 1), rows("attention", count), rows("ffn", count), by_head)


def _runs(model: LoadedModel, n: int) -> int:
    """How many runs :func:`_exact` makes."""
    config = model.config
    return n * (1 + config.layers * (3 + config.heads))


def _estimate(plain: float, slope: Parts, base: Parts, other: Parts) -> Maps:
    """The logit difference that the gradient of ``base`` foresees."""
    found = (
        plain + (getattr(slope, f.name) * (getattr(other, f.name) - getattr(base, f.name))).sum(-1)[:, 0]
        for f in fields(Parts)
    )
    return Maps(*(each.numpy().astype(np.float64) for each in found))
