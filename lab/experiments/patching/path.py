"""Patch a path: measure the information that attention alone brings to the asked token.

Attention and the feed-forward networks after it work together: a network that recovers something when patched may only
pass on the information that attention brought. So the attention output of one layer is taken from the other run, while
at that token the networks of this and later layers keep their outputs from the run that is changed (path patching: Wang
et al. 2023, §3.1; Goldowsky-Dill et al. 2023).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from lab.analysis.heads.values import Values
from lab.experiments.patching.patches import Contrast, plain_parts, read_difference
from lab.models import forward
from lab.models.forward import PAPER
from lab.models.gradients import GradientParts
from lab.models.named_tensors import at_token, changed

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel


@dataclass(frozen=True, eq=False)
class Relay:
    """The share that one layer's attention output carries at the asked token: means over pairs, 95 % intervals.

    Attributes
    ----------
    layer
        The layer of the attention output, from 0.
    mean, low, high
        (2 + L − layer,): the share with no network held; with the network of one layer held, from ``layer`` on; with
        all these networks held.
    """

    layer: int
    mean: Values
    low: Values
    high: Values

    @property
    def alone(self) -> float:
        """The share that the attention output carries when no network is held."""
        return float(self.mean[0])

    @property
    def most(self) -> int:
        """The layer, from 0, of the network that, when held, leaves the least share to the attention output."""
        return self.layer + int(self.mean[1:-1].argmin())

    def held(self, layer: int) -> float:
        """Return the share that the attention output carries while the network of ``layer``, from 0, is held."""
        return float(self.mean[1 + layer - self.layer])


def held_sets(layers: int, layer: int) -> list[range]:
    """Return the networks held for each number of a :class:`Relay`: none, one at a time from ``layer`` on, all."""
    above = range(layer, layers)
    return [range(0), *(range(each, each + 1) for each in above), above]


def relayed(model: LoadedModel, two: Contrast, layer: int, needed: bool, least: float) -> Values:
    """Return the numbers of a :class:`Relay` for one pair: by how far the attention output suffices, or is ``needed``.

    ``least`` is as in :func:`lab.experiments.patching.patches.patching`; NotPatchable is raised as in that function.
    """
    clean, corrupt, (good, bad) = plain_parts(model, two, least)
    base, other = (clean, corrupt) if needed else (corrupt, clean)
    found = []
    for held in held_sets(model.config.layers, layer):
        last = patched_path(model, base, other, layer, two.place, held)
        share = (float(read_difference(model, two, last)) - bad) / (good - bad)
        found.append(1 - share if needed else share)
    return np.array(found)


@torch.inference_mode()
def patched_path(
    model: LoadedModel, base: GradientParts, other: GradientParts, layer: int, place: int, held: Collection[int]
) -> Tensor:
    """The last hidden state (d,) at token ``place`` of ``base``, with one attention output there taken from ``other``.

    ``layer`` counts from 0. At ``place``, the feed-forward networks of the layers ``held`` keep their outputs from
    ``base``. Both runs have one text (b = 1).
    """
    x = base.residual[layer]
    for above in range(layer, model.config.layers):
        steps = PAPER
        if above == layer:
            steps = changed(attention_output=at_token(place, other.attention[above][:, place]))
        if above in held:
            steps = changed(steps, ffn_output=at_token(place, base.ffn[above][:, place]))
        x = forward.run_layer(x, model.weights.layers[above], model.config, steps).output
    return x[0, place]
