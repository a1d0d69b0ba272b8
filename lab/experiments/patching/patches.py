"""Find where a model keeps the deciding information, by putting vectors of one run into another (activation patching).

Meng et al. 2022, §2; Heimersheim & Nanda 2024. Two sentences of equal length differ in the word that decides between
two forms. One part at one token of the first run (*clean*) is put into the second (*corrupt*), or the other way round,
and the two forms compete again. Clean into corrupt shows which parts suffice; corrupt into clean shows which parts are
needed.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from lab.analysis.heads.values import Values
from lab.evidence.pairs import AskedPair
from lab.models import forward
from lab.models.batches import ProgressFunction, logits_of, numbers_a_run, run_batch, unwatched
from lab.models.cores import on_every_core
from lab.models.encoding import Encoding
from lab.models.forward import PAPER
from lab.models.gradients import GradientParts, gradients, parts
from lab.models.layer_trace import become, changed
from lab.models.one_token import from_contexts, layer_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.models.loading import LoadedModel

Site = Literal["residual", "attention", "ffn", "heads"]
SITES: tuple[Site, ...] = get_args(Site)
# The smallest logit difference between clean and corrupt to divide by; with 0.5, an error of 0.05 logits reads as 0.1.
SMALL = 0.5
# Numbers that the layers of a chunk of runs hold in memory at once: 20 MB.
_ROOM = 5_000_000


class NotPatchable(ValueError):
    """The two sentences cannot be patched; the message is written for the learner."""


@dataclass(frozen=True)
class Contrast:
    """Two sentences, and two words (ids ``good`` and ``bad``) that compete at one ``place`` (a token, from 0).

    The good word fits ``clean``, the bad word fits ``corrupt``.
    """

    clean: Encoding
    corrupt: Encoding
    place: int
    good: int
    bad: int


@dataclass(frozen=True, eq=False)
class Maps:
    """A number for each part at each of n tokens; the arrays may have leading dimensions, such as pairs.

    Attributes
    ----------
    residual
        (layers + 1, n), the states of the residual stream; 0 is the embeddings' output.
    attention, ffn
        (layers, n), the outputs that the two sublayers add to the residual stream.
    heads
        (layers, heads, n), each head's input to W_O.
    """

    residual: Values
    attention: Values
    ffn: Values
    heads: Values


@dataclass(frozen=True, eq=False)
class Patching:
    """The share that each part at each token recovers: (patched − corrupt) / (clean − corrupt).

    The three terms are logit differences, good word minus bad word.

    Attributes
    ----------
    clean, corrupt
        Logit of the good word minus logit of the bad word in the two plain runs.
    clean_into_corrupt, corrupt_into_clean
        In both, 1 is as in the clean run and 0 as in the corrupt run. A value near 1 in the first means that the part
        suffices; a value near 0 in the second means that the part is needed.
    estimated_into_corrupt, estimated_into_clean
        Estimates by attribution patching (Nanda 2023; Syed et al. 2023): the gradient in the patched run, times the
        difference of the two runs, instead of a separate run for each number.
    """

    clean: float
    corrupt: float
    clean_into_corrupt: Maps
    corrupt_into_clean: Maps
    estimated_into_corrupt: Maps
    estimated_into_clean: Maps


def contrast(asked: AskedPair) -> Contrast:
    """Return the contrast of a minimal pair's sentence with its other sentence."""
    return Contrast(asked.encoding, asked.other, asked.place, asked.good, asked.bad)


def patching(
    model: LoadedModel, two: Contrast, progress: ProgressFunction = unwatched, least: float = SMALL
) -> Patching:
    """Patch every part at every token, in both directions, and estimate the patches' effects by gradients.

    ``progress`` receives the share done, 0 to 1, between runs; an exception it raises ends the measurement.

    Raises
    ------
    NotPatchable
        If the sentences have different numbers of tokens, or differ by less than ``least`` logits.
    ValueError
        If the model has no vocabulary head.
    """
    clean, corrupt, (good, bad) = plain_parts(model, two, least)
    slope, _ = gradients(model, [two.clean, two.corrupt], lambda last: read_difference(model, two, last[:, two.place]))

    def recovered(differences: Maps) -> Maps:
        return Maps(*((getattr(differences, f.name) - bad) / (good - bad) for f in fields(Maps)))

    return Patching(
        good,
        bad,
        recovered(_exact(model, two, corrupt, clean, lambda done: progress(done / 2))),
        recovered(_exact(model, two, clean, corrupt, lambda done: progress((1 + done) / 2))),
        recovered(_estimate(bad, _text(slope, 1), corrupt, clean)),
        recovered(_estimate(good, _text(slope, 0), clean, corrupt)),
    )


def plain_parts(
    model: LoadedModel, two: Contrast, least: float = SMALL
) -> tuple[GradientParts, GradientParts, tuple[float, float]]:
    """Return the parts of both plain runs (b = 1), and the logit differences. Raises :class:`NotPatchable`."""
    lengths = len(two.clean), len(two.corrupt)
    if lengths[0] != lengths[1]:
        raise NotPatchable(
            f"One sentence has {lengths[0]} tokens and the other {lengths[1]}. A patch puts a token's vector in the "
            "place of another's, so both need the same number of tokens."
        )
    stream = run_batch(model, [two.clean, two.corrupt])
    good, bad = read_difference(model, two, stream[-1, :, two.place]).tolist()
    if abs(good - bad) < least:
        raise NotPatchable(
            # Cut, not rounded, so that 0.499 does not read as "0.50, less than 0.5".
            f"The two sentences differ by {int(100 * abs(good - bad)) / 100:.2f} logits in which word they prefer. "
            f"That is less than {least:.2g}, too little to say which part of it a patch recovers."
        )
    both = parts(model, stream)
    return _text(both, 0), _text(both, 1), (good, bad)


@dataclass(frozen=True, eq=False)
class Patches:
    """The part of one layer that is overwritten in k runs, at the tokens ``where`` (k, n), or (k, H, n) for heads.

    ``layer`` counts from 0; for the residual stream, 0 is the embeddings' output and L is the last layer's output.
    """

    site: Site
    layer: int
    where: Tensor

    @property
    def tokens(self) -> tuple[Tensor, Tensor]:
        """The run of each of m patched tokens, and the token's place in that run, both (m,) from 0."""
        there = self.where.any(dim=1) if self.site == "heads" else self.where
        run, token = there.nonzero(as_tuple=True)
        return run, token


@torch.inference_mode()
def patched(model: LoadedModel, base: GradientParts, other: GradientParts, patches: Patches, place: int) -> Tensor:
    """Return the last hidden states (k, d) at token ``place`` of k runs of ``base`` with patched parts from ``other``.

    ``base`` and ``other`` have one text each.
    """
    layers, at = model.weights.layers, torch.tensor([place])
    # Up to the end of its layer, a patch changes only its own tokens.
    done = patches.layer + (patches.site != "residual")
    x = base.residual[done].repeat(len(patches.where), 1, 1)
    x[patches.tokens] = _tokens(model, base, other, patches)
    if done == len(layers):
        return x[:, place]
    for w in layers[done:-1]:
        x = forward.run_layer(x, w, model.config).output
    return layer_at(x, at, layers[-1], model.config)


def _tokens(model: LoadedModel, base: GradientParts, other: GradientParts, patches: Patches) -> Tensor:
    """Return the patched tokens after their layer, (m, d)."""
    layer, site, (run, token) = patches.layer, patches.site, patches.tokens
    if site == "residual":
        return other.residual[layer][0, token]
    context, steps = base.context[layer][0, :, token], PAPER  # (H, m, d_k)
    if site == "heads":
        context = torch.where(patches.where[run, :, token].T[..., None], other.context[layer][0, :, token], context)
    elif site == "attention":
        steps = changed(attention_output=become(other.attention[layer][0, token][:, None]))
    else:
        steps = changed(ffn_output=become(other.ffn[layer][0, token][:, None]))
    x = base.residual[layer][0, token][:, None]  # (m, 1, d): each token as a text of its own
    w = model.weights.layers[layer]
    return from_contexts(x, context.transpose(0, 1)[:, :, None], w, model.config, steps)[:, 0]


def read_difference(model: LoadedModel, two: Contrast, there: Tensor) -> Tensor:
    """Logit of the good word minus logit of the bad word, (...), from last hidden states at the place (..., d)."""
    logits = logits_of(model, there, [two.good, two.bad])
    return logits[..., 0] - logits[..., 1]


def _text(both: GradientParts, number: int) -> GradientParts:
    """Return one text of a batch, as a batch of one."""
    return GradientParts(*(getattr(both, f.name)[:, number : number + 1] for f in fields(GradientParts)))


def _exact(
    model: LoadedModel, two: Contrast, base: GradientParts, other: GradientParts, progress: ProgressFunction
) -> Maps:
    """Measure the logit difference with every part of ``base`` at every token replaced in turn."""
    n, heads, count = base.residual.shape[2], model.config.heads, model.config.layers
    tokens, each_head = torch.eye(n, dtype=torch.bool), torch.eye(heads * n, dtype=torch.bool).unflatten(1, (heads, n))
    chunk = max(1, _ROOM // numbers_a_run(model.config, n))
    runs = [
        Patches(site, layer, few)
        for site in SITES
        for layer in range(count + (site == "residual"))
        for few in (each_head if site == "heads" else tokens).split(chunk)
    ]

    def read(patches: Patches) -> Tensor:
        return read_difference(model, two, patched(model, base, other, patches, two.place))

    found = on_every_core(read, runs, lambda done: progress(done / len(runs)))

    def rows(site: Site) -> Values:
        of_site = [each for each, patches in zip(found, runs, strict=True) if patches.site == site]
        return torch.cat(of_site).unflatten(0, (-1, n)).numpy().astype(np.float64)

    return Maps(rows("residual"), rows("attention"), rows("ffn"), rows("heads").reshape(count, heads, n))


def _estimate(plain: float, slope: GradientParts, base: GradientParts, other: GradientParts) -> Maps:
    """Return the logit differences after each patch, as estimated from the gradient ``slope`` of ``base``."""
    found = (
        plain + (getattr(slope, f.name) * (getattr(other, f.name) - getattr(base, f.name))).sum(-1)[:, 0]
        for f in fields(GradientParts)
    )
    return Maps(*(each.numpy().astype(np.float64) for each in found))


@dataclass(frozen=True)
class TemplatePatching:
    """The patched pairs, their patches in the same order, and the refused pairs with the reason."""

    pairs: tuple[AskedPair, ...]
    patchings: tuple[Patching, ...]
    refused: tuple[tuple[AskedPair, str], ...]


def patch_template(
    model: LoadedModel, pairs: Sequence[AskedPair], progress: ProgressFunction = unwatched, least: float = SMALL
) -> TemplatePatching:
    """Patch every pair of a template. ``progress`` receives the share done, 0 to 1, after each pair.

    A pair whose sentences differ by less than ``least`` logits is refused.

    Raises
    ------
    NotPatchable
        If the pairs have different lengths, so that their tokens do not correspond, or if no pair can be patched.
    """
    lengths = sorted({len(each.encoding) for each in pairs})
    if len(lengths) > 1:
        listed = " and ".join(map(str, lengths))
        raise NotPatchable(f"These sentences have {listed} tokens. A mean by token needs sentences of one length.")
    done: list[tuple[AskedPair, Patching]] = []
    refused: list[tuple[AskedPair, str]] = []
    for number, each in enumerate(pairs, start=1):
        try:
            done.append((each, patching(model, contrast(each), least=least)))
        except NotPatchable as reason:
            refused.append((each, str(reason)))
        progress(number / len(pairs))
    if not done:
        raise NotPatchable("In none of these pairs do the two sentences differ enough to be patched.")
    kept, found = zip(*done, strict=True)
    return TemplatePatching(kept, found, tuple(refused))


def stacked(maps: Sequence[Maps]) -> Maps:
    """Stack the maps of several pairs, with the pairs as the first dimension."""
    return Maps(*(np.stack([getattr(each, f.name) for each in maps]) for f in fields(Maps)))
