"""What a learner may change in a forward pass, as plain arguments of it.

:class:`Interventions` is what a page or a notebook states for the whole run;
:class:`LayerControls` is the part of it one layer sees. The default of both changes nothing,
and then the pass takes exactly the steps of the plain run.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

import torch
from torch import Tensor

from lab.models.config import ModelConfig
from lab.models.weights import LayerWeights

Head = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Patch:
    """Overwrite the residual stream at one place with ``vector`` (width,), from another run.

    ``layer`` counts the hidden states: 0 is the embeddings' output, L the last layer's.
    """

    layer: int
    token: int
    vector: Tensor


@dataclass(frozen=True, eq=False)
class LayerControls:
    """Changes inside one layer.

    zero       (..., H) bool, heads whose context becomes 0 at the *input* of W_O
    mean       (..., H) bool, heads whose context becomes its mean over this sentence's tokens
    uniform    (H,) bool, heads that attend equally to every token they may see
    blocked    (n, n) bool, query-key pairs that are masked out
    """

    zero: Tensor | None = None
    mean: Tensor | None = None
    uniform: Tensor | None = None
    blocked: Tensor | None = None
    scale: bool = True
    causal_mask: bool = True
    softmax_over_queries: bool = False
    output_projection: bool = True
    values: bool = True
    other_gelu: bool = False

    def weights(self, w: LayerWeights) -> LayerWeights:
        """The weights that the layer runs with: without values, W_V is 0 and only its bias is passed on."""
        return w if self.values else replace(w, w_v=torch.zeros_like(w.w_v))


@dataclass(frozen=True)
class Interventions:
    """A changed forward pass. Layers, heads and tokens count from 0.

    The last seven are the classic mistakes of a first implementation, for the "break it" switches.
    """

    zero_heads: frozenset[Head] = frozenset()
    mean_heads: frozenset[Head] = frozenset()
    uniform_heads: frozenset[Head] = frozenset()
    blocked: frozenset[tuple[int, int]] = frozenset()
    patches: tuple[Patch, ...] = field(default=())
    no_positions: bool = False
    no_segments: bool = False
    no_scaling: bool = False
    no_causal_mask: bool = False
    no_padding_mask: bool = False
    no_values: bool = False
    softmax_over_queries: bool = False
    no_output_projection: bool = False
    other_gelu: bool = False

    @property
    def changes_nothing(self) -> bool:
        return not any(getattr(self, f.name) for f in fields(self))

    def check(self, config: ModelConfig, n: int) -> None:
        """Raise ValueError if a layer, head or token does not exist in this model and sentence."""
        for name in ("zero_heads", "mean_heads", "uniform_heads"):
            for layer, head in getattr(self, name):
                if not (0 <= layer < config.layers and 0 <= head < config.heads):
                    raise ValueError(
                        f"{name}: there is no head {head} in layer {layer}; layers run from 0 to "
                        f"{config.layers - 1}, heads from 0 to {config.heads - 1}."
                    )
        for query, key in self.blocked:
            if not (0 <= query < n and 0 <= key < n):
                raise ValueError(f"blocked: token pair ({query}, {key}) is outside the {n} tokens.")
        visible = [n if not config.causal else q + 1 for q in range(n)]
        for query in {q for q, _ in self.blocked}:
            hidden = sum(q == query and k < visible[query] for q, k in self.blocked)
            if hidden >= visible[query]:
                raise ValueError(f"blocked: token {query} would have nothing left to attend to.")
        for patch in self.patches:
            if not (0 <= patch.layer <= config.layers and 0 <= patch.token < n):
                raise ValueError(f"patches: there is no hidden state {patch.layer} of token {patch.token}.")
            if tuple(patch.vector.shape) != (config.width,):
                raise ValueError(f"patches: the vector must have shape ({config.width},).")

    def with_padding(self, n: int, padding: int) -> Interventions:
        """These, and the mask that keeps all ``n`` tokens from reading the last ``padding`` of them."""
        if not padding or self.no_padding_mask:
            return self
        pairs = {(query, key) for query in range(n) for key in range(n - padding, n)}
        return replace(self, blocked=self.blocked | pairs)

    def for_layer(self, layer: int, config: ModelConfig, n: int) -> LayerControls:
        """The part of these interventions that layer ``layer`` sees."""
        return LayerControls(
            zero=_heads(self.zero_heads, layer, config.heads),
            mean=_heads(self.mean_heads, layer, config.heads),
            uniform=_heads(self.uniform_heads, layer, config.heads),
            blocked=_pairs(self.blocked, n),
            scale=not self.no_scaling,
            causal_mask=not self.no_causal_mask,
            softmax_over_queries=self.softmax_over_queries,
            output_projection=not self.no_output_projection,
            values=not self.no_values,
            other_gelu=self.other_gelu,
        )


def _heads(chosen: frozenset[Head], layer: int, heads: int) -> Tensor | None:
    here = [head for at, head in chosen if at == layer]
    if not here:
        return None
    mask = torch.zeros(heads, dtype=torch.bool)
    mask[here] = True
    return mask


def _pairs(pairs: frozenset[tuple[int, int]], n: int) -> Tensor | None:
    if not pairs:
        return None
    mask = torch.zeros(n, n, dtype=torch.bool)
    for query, key in pairs:
        mask[query, key] = True
    return mask
