"""Changes that a learner may make to a forward pass.

A page or a notebook gives :class:`Interventions` for the whole run. Interventions replace steps of the forward pass
from outside (:class:`lab.models.forward.Steps`); without changes, the pass uses the paper's own steps.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from lab.models import forward, mistakes
from lab.models.config import ModelConfig
from lab.models.forward import PAPER, Steps
from lab.models.layer_trace import Change, changed
from lab.models.weights import EmbeddingWeights, Weights

# A head as (layer, head) and a neuron as (layer, neuron), counted from 0.
Head = tuple[int, int]
Neuron = tuple[int, int]
# Blocked links as (query, key) in every layer, (layer, query, key) in one layer, (layer, head, query, key) in one head.
Pair = tuple[int, int]
Link = tuple[int, int, int]
HeadLink = tuple[int, int, int, int]


@dataclass(frozen=True, eq=False)
class Patch:
    """Overwrite the residual stream at one place with ``vector`` (width,), from another run.

    ``layer`` counts the hidden states: 0 is the embeddings' output, L the last layer's output.
    """

    layer: int
    token: int
    vector: Tensor


@dataclass(frozen=True, eq=False)
class Swap:
    """Let ``heads`` of ``layer`` bring to one token what they bring to a token of another run.

    ``context`` (H, d_k) is the context of all heads of the layer at that other token, the input of W_O; only the rows
    of ``heads`` are used. :func:`lab.models.trace.swaps` takes them from a run.
    """

    layer: int
    heads: frozenset[int]
    token: int
    context: Tensor


@dataclass(frozen=True)
class Interventions:
    """A changed forward pass. Layers, heads, neurons and tokens count from 0.

    Blocked links are masked before the softmax, so the query gives its weight to the other keys: ``blocked`` has
    (query, key) in every layer, ``blocked_links`` (layer, query, key), ``blocked_in_heads`` (layer, head, query, key).
    The last seven fields are classic mistakes of a first implementation, for the "break it" switches.
    """

    zero_heads: frozenset[Head] = frozenset()
    mean_heads: frozenset[Head] = frozenset()
    uniform_heads: frozenset[Head] = frozenset()
    zero_neurons: frozenset[Neuron] = frozenset()
    blocked: frozenset[Pair] = frozenset()
    blocked_links: frozenset[Link] = frozenset()
    blocked_in_heads: frozenset[HeadLink] = frozenset()
    patches: tuple[Patch, ...] = field(default=())
    swaps: tuple[Swap, ...] = field(default=())
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

    @property
    def without_tokens(self) -> Interventions:
        """These interventions without those that name tokens, so that they fit any text."""
        nothing = frozenset[Any]()
        return replace(self, blocked=nothing, blocked_links=nothing, blocked_in_heads=nothing, patches=(), swaps=())

    def check(self, weights: Weights, n: int) -> None:
        """Raise ValueError for a layer, head, neuron or token that this model or sentence does not have.

        Raises TypeError if the number of one is not a whole number.
        """
        for name in ("zero_heads", "mean_heads", "uniform_heads"):
            _check_heads(name, getattr(self, name), weights.config)
        for layer, neuron in _whole_numbers(self.zero_neurons):
            if not (0 <= layer < weights.config.layers and 0 <= neuron < weights.config.ffn_width):
                raise ValueError(f"zero_neurons: there is no neuron {neuron} in layer {layer}.")
        self._check_blocked(weights, n)
        for patch in self.patches:
            _check_patch(patch, weights.config, n)
        for swap in self.swaps:
            _check_swap(swap, weights.config, n)

    def _check_blocked(self, weights: Weights, n: int) -> None:
        """Raise ValueError for a link that does not exist, and for a query that would have no key left."""
        config, hidden = weights.config, defaultdict[tuple[int | None, int | None, int], set[int]](set)
        for layer, head, query, key in self._blocked_anywhere():
            _whole_numbers([(layer or 0, head or 0, query, key)])
            if not (0 <= query < n and 0 <= key < n):
                raise ValueError(f"blocked: token pair ({query}, {key}) is outside the {n} tokens.")
            if not (0 <= (layer or 0) < config.layers and 0 <= (head or 0) < config.heads):
                raise ValueError(f"blocked: there is no head {head or 0} in a layer {layer or 0} of this model.")
            hidden[layer, head, query].add(key)
        windows = [n if self.no_causal_mask or w.window is None else w.window for w in weights.layers]
        for layer, head, query in list(hidden):
            reach = min(windows) if layer is None else windows[layer]
            last = query if config.causal and not self.no_causal_mask else query + reach
            seen = range(max(0, query - reach), min(n, last + 1))
            wider = hidden[None, None, query] | hidden[layer, None, query] | hidden[layer, head, query]
            if wider.issuperset(seen):
                where = (
                    ""
                    if layer is None
                    else f" in layer {layer}"
                    if head is None
                    else f" in head {head} of layer {layer}"
                )
                raise ValueError(f"blocked: token {query} would have nothing left to attend to{where}.")

    def _blocked_anywhere(self) -> Iterator[tuple[int | None, int | None, int, int]]:
        """All blocked links as layer, head, query, key.

        Layer or head is None if a link is blocked in all layers or heads.
        """
        yield from ((None, None, *pair) for pair in self.blocked)
        yield from ((layer, None, query, key) for layer, query, key in self.blocked_links)
        yield from self.blocked_in_heads

    def with_padding(self, n: int, padding: int) -> Interventions:
        """These interventions, and a mask that keeps all ``n`` tokens from reading the last ``padding`` tokens."""
        if not padding or self.no_padding_mask:
            return self
        pairs = {(query, key) for query in range(n) for key in range(n - padding, n)}
        return replace(self, blocked=self.blocked | pairs)

    def steps(self, layer: int, config: ModelConfig, n: int) -> Steps:
        """Return the steps of layer ``layer`` for ``n`` tokens."""
        if self.changes_nothing:
            return PAPER
        steps = Steps(
            project_qkv=mistakes.no_values if self.no_values else forward.project_qkv,
            rotate=mistakes.no_rotation if self.no_positions else forward.rotate,
            scale=mistakes.no_scaling if self.no_scaling else forward.scale,
            mask=mistakes.no_mask if self.no_causal_mask else forward.mask,
            attend=mistakes.softmax_over_queries if self.softmax_over_queries else forward.attend,
            project_output=mistakes.no_output_projection if self.no_output_projection else forward.project_output,
            activate=mistakes.other_gelu if self.other_gelu else forward.activate,
        )
        blocked, uniform = self._hidden(layer, config.heads, n), _chosen(self.uniform_heads, layer, config.heads)
        if blocked is not None:
            steps = changed(steps, scaled_scores=partial(_hide, blocked))
        if uniform is not None:
            steps = changed(steps, scaled_scores=heads_level(uniform))
        silent = _chosen(self.zero_neurons, layer, config.ffn_width)
        if silent is not None:
            steps = changed(steps, ffn_activation=neurons_off(silent))
        zero, mean = (_chosen(chosen, layer, config.heads) for chosen in (self.zero_heads, self.mean_heads))
        if zero is not None or mean is not None:
            steps = changed(steps, context=heads_off(zero, mean))
        for swap in self.swaps:
            if swap.layer == layer:
                steps = changed(steps, context=heads_swapped(swap))
        return steps

    def _hidden(self, layer: int, heads: int, n: int) -> Tensor | None:
        """The blocked links of layer ``layer``, (H, n, n), or (1, n, n) if equal for all heads.

        Returns None if no link is blocked.
        """
        found = [each for each in self._blocked_anywhere() if each[0] in (None, layer)]
        if not found:
            return None
        mask = torch.zeros(heads if self.blocked_in_heads else 1, n, n, dtype=torch.bool)
        for _, head, query, key in found:
            mask[slice(None) if head is None else head, query, key] = True
        return mask

    def embeddings(self, w: EmbeddingWeights) -> EmbeddingWeights:
        """Return the look-up tables for the run; a table of positions or segments that is switched off has only zeros.

        Rotary positions have no table; :meth:`steps` switches them off.
        """
        if self.no_positions and w.position is not None:
            w = replace(w, position=torch.zeros_like(w.position))
        if self.no_segments and w.segment is not None:
            w = replace(w, segment=torch.zeros_like(w.segment))
        return w

    def patch(self, x: Tensor, layer: int) -> Tensor:
        """Return the stream (n, d) at ``layer`` with the patches of this layer applied."""
        for patch in self.patches:
            if patch.layer == layer:
                x = x.index_copy(0, torch.tensor([patch.token]), patch.vector[None])
        return x


def heads_off(zero: Tensor | None, mean: Tensor | None) -> Change:
    """The change of ``context``, the input of W_O, that switches heads off.

    zero (..., H) bool, heads whose context becomes 0
    mean  (..., H) bool, heads whose context becomes its mean over this sentence's tokens
    """

    def off(context: Tensor) -> Tensor:
        if zero is not None:
            context = context.masked_fill(zero[..., None, None], 0)
        if mean is not None:
            context = torch.where(mean[..., None, None], context.mean(dim=-2, keepdim=True), context)
        return context

    return off


def heads_swapped(swap: Swap) -> Change:
    """The change of ``context`` (..., H, n, d_k) that gives one token what the heads of ``swap`` bring elsewhere."""

    def swapped(context: Tensor) -> Tensor:
        context, heads = context.clone(), list(swap.heads)
        context[..., heads, swap.token, :] = swap.context[heads]
        return context

    return swapped


def neurons_off(off: Tensor) -> Change:
    """The change of ``ffn_activation`` to 0 in the neurons ``off`` (..., d_ff) at every token."""
    return lambda activation: activation.masked_fill(off, 0)


def _hide(links: Tensor, scaled_scores: Tensor) -> Tensor:
    """Mask ``links`` (1 or H, n, n) out."""
    return scaled_scores.masked_fill(links, -torch.inf)


def heads_level(heads: Tensor) -> Change:
    """The change of ``scaled_scores`` that makes ``heads`` (..., H) attend equally to all keys they may see."""

    def level(masked: Tensor) -> Tensor:
        equal = torch.where(masked.isinf(), masked, torch.zeros(()))
        return torch.where(heads[..., None, None], equal, masked)

    return level


def _chosen(parts: frozenset[tuple[int, int]], layer: int, count: int) -> Tensor | None:
    """Return a mask of the ``count`` heads or neurons of a layer that are in ``parts``, (count,).

    Returns None if none of them is in ``parts``.
    """
    here = [part for at, part in parts if at == layer]
    if not here:
        return None
    mask = torch.zeros(count, dtype=torch.bool)
    mask[here] = True
    return mask


def whole(given: Any) -> int:
    """Return a whole number of Python, NumPy or PyTorch as Python's. Raises TypeError for anything else."""
    boolean = isinstance(given, bool) or getattr(given, "dtype", None) == torch.bool
    if boolean or not hasattr(given, "__index__"):
        raise TypeError(f"Layers and positions are whole numbers, counted from 0, and {given!r} is not one.")
    return operator.index(given)


def _whole_numbers(places: Iterable[tuple[int, ...]]) -> list[tuple[int, ...]]:
    return [tuple(whole(each) for each in place) for place in places]


def _check_heads(name: str, heads: Iterable[Head], config: ModelConfig) -> None:
    for layer, head in _whole_numbers(heads):
        if not (0 <= layer < config.layers and 0 <= head < config.heads):
            raise ValueError(
                f"{name}: there is no head {head} in layer {layer}; layers run from 0 to "
                f"{config.layers - 1}, heads from 0 to {config.heads - 1}."
            )


def _check_patch(patch: Patch, config: ModelConfig, n: int) -> None:
    if not (0 <= whole(patch.layer) <= config.layers and 0 <= whole(patch.token) < n):
        raise ValueError(f"patches: there is no hidden state {patch.layer} of token {patch.token}.")
    if tuple(patch.vector.shape) != (config.width,):
        raise ValueError(f"patches: the vector must have shape ({config.width},).")


def _check_swap(swap: Swap, config: ModelConfig, n: int) -> None:
    _check_heads("swaps", [(swap.layer, head) for head in swap.heads], config)
    if not 0 <= whole(swap.token) < n:
        raise ValueError(f"swaps: there is no token {swap.token}; tokens run from 0 to {n - 1}.")
    if tuple(swap.context.shape) != (config.heads, config.head_width):
        raise ValueError(f"swaps: the context must have shape ({config.heads}, {config.head_width}).")
