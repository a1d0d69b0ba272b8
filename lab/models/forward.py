"""The forward pass of BERT, GPT-2 and ModernBERT, one short function per step of the papers.

Read this file from top to bottom: embeddings, attention, feed-forward network, layer, model, output heads.

It covers "Attention Is All You Need" (Vaswani et al. 2017) as used in BERT (Devlin et al. 2019), GPT-2 (Radford et al.
2019) and ModernBERT (Warner et al. 2024). Shapes: n tokens, d width, H heads, d_k = d / H, d_ff inner width of
the feed-forward network, L layers. All functions also accept leading batch dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from lab.models.config import ModelConfig
from lab.models.cores import breathe
from lab.models.weights import EmbeddingWeights, LayerWeights, Norm, PairHead, ReplacedHead, VocabularyHead, Weights


@dataclass(frozen=True, eq=False)
class Embeddings:
    """The input of the first layer and its parts, each (n, e); a part that the model lacks is None."""

    token: Tensor
    position: Tensor | None
    segment: Tensor | None
    sum: Tensor
    norm: Tensor | None
    output: Tensor  # (n, d)


@dataclass(frozen=True, eq=False)
class Attention:
    """Self-attention in one layer, from queries to the output projection."""

    query: Tensor  # (H, n, d_k), rotated by position if the layer uses rotary positions
    key: Tensor  # (H, n, d_k), rotated like the query
    value: Tensor  # (H, n, d_k)
    scores: Tensor  # (H, n, n)
    scaled_scores: Tensor  # (H, n, n), -inf where masked
    attention: Tensor  # (H, n, n), rows sum to 1
    context: Tensor  # (H, n, d_k)
    context_concat: Tensor  # (n, d)
    output: Tensor  # (n, d)


@dataclass(frozen=True, eq=False)
class FeedForward:
    """The position-wise feed-forward network in one layer."""

    hidden: Tensor  # (n, d_ff)
    activation: Tensor  # (n, d_ff), times the gate if there is one
    output: Tensor  # (n, d)
    gate: Tensor | None = None  # (n, d_ff)


@dataclass(frozen=True, eq=False)
class Layer:
    """One whole layer. Post-norm layers have ``attention_norm``, pre-norm layers ``input_norm``, ``ffn_input_norm``."""

    input: Tensor  # (n, d)
    attention: Attention
    attention_residual: Tensor  # (n, d)
    feed_forward: FeedForward
    ffn_residual: Tensor  # (n, d)
    output: Tensor  # (n, d)
    attention_norm: Tensor | None = None
    input_norm: Tensor | None = None
    ffn_input_norm: Tensor | None = None


def layer_norm(x: Tensor, norm: Norm, eps: float) -> Tensor:
    """γ · (x − mean) / √(variance + ε) + β, each row by its own mean and variance (Ba et al. 2016)."""
    return functional.layer_norm(x, norm.gamma.shape, norm.gamma, norm.beta, eps)


def linear(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    """Return x·W + b with W (in, out), as in the papers; torch's fused kernel needs W transposed."""
    return functional.linear(x, w.T, b)


def gelu(x: Tensor, tanh: bool = False) -> Tensor:
    """x · Φ(x), with Φ the normal distribution function; ``tanh`` selects the tanh form (Hendrycks & Gimpel 2016)."""
    return functional.gelu(x, approximate="tanh" if tanh else "none")


def activate(x: Tensor, name: str) -> Tensor:
    """The non-linearity by its name in the checkpoint: ReLU, GELU or, for any other name, GELU's tanh form."""
    return torch.relu(x) if name == "relu" else gelu(x, tanh=name != "gelu")


def embed(token_ids: Tensor, segment_ids: Tensor, position_ids: Tensor, w: EmbeddingWeights, eps: float) -> Embeddings:
    """Token + position + segment vectors, then LayerNorm (Devlin et al. 2019, §3, figure 2).

    Ids are (n,) integers. GPT-2 has neither segments nor this LayerNorm, and ModernBERT adds no position vectors.
    """
    token = total = w.token[token_ids]
    segment = None if w.segment is None else w.segment[segment_ids]
    position = None if w.position is None else w.position[position_ids]
    # Hugging Face adds the position last; the same order keeps the sums identical bit by bit.
    for part in (segment, position):
        total = total if part is None else total + part
    norm = layer_norm(total, w.norm, eps) if w.norm is not None else None
    output = total if norm is None else norm
    if w.project is not None:
        output = linear(output, *w.project)
    return Embeddings(token, position, segment, total, norm, output)


def split_heads(x: Tensor, heads: int) -> Tensor:
    """Split vectors into heads, (n, d) -> (H, n, d_k): head h takes columns h·d_k to (h+1)·d_k."""
    return x.unflatten(-1, (heads, -1)).transpose(-3, -2)


def merge_heads(x: Tensor) -> Tensor:
    """Concatenate the heads again, (H, n, d_k) -> (n, d)."""
    return x.transpose(-3, -2).flatten(-2)


def project_qkv(x: Tensor, w: LayerWeights, heads: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values of all heads, each (H, n, d_k) (Vaswani et al. 2017, §3.2.2)."""
    return (
        split_heads(linear(x, w.w_q, w.b_q), heads),
        split_heads(linear(x, w.w_k, w.b_k), heads),
        split_heads(linear(x, w.w_v, w.b_v), heads),
    )


def rotate(x: Tensor, base: float) -> Tensor:
    """Rotate queries or keys (H, n, d_k) by their positions (Su et al. 2021, §3.2.2 and 3.4.2).

    Dimensions m and m + d_k/2 are the two coordinates of a clock hand; a token at position p turns the hand by
    p · base^(−2m/d_k). The dot product of two hands depends on the angle between them, so only on the tokens' distance.
    """
    n, d_k = x.shape[-2:]
    angle = torch.arange(n)[:, None] * base ** (-torch.arange(0, d_k, 2) / d_k)
    across, up = x.chunk(2, dim=-1)
    return torch.cat((across * angle.cos() - up * angle.sin(), up * angle.cos() + across * angle.sin()), dim=-1)


def attention_scores(query: Tensor, key: Tensor) -> Tensor:
    """The dot products of every query with every key: QKᵀ, (H, n, n)."""
    return query @ key.transpose(-1, -2)


def scale(scores: Tensor, d_k: int) -> Tensor:
    """Divide by √d_k, so that wide heads do not saturate the softmax (§3.2.1)."""
    return scores / math.sqrt(d_k)


def mask(scaled_scores: Tensor, causal: bool, window: int | None = None) -> Tensor:
    """Set the scores of keys that a query may not see to -inf: later keys in a causal model (§3.2.3), and keys more
    than ``window`` tokens away in a local layer (Beltagy et al. 2020, §3.1)."""
    n = scaled_scores.shape[-1]
    if causal:
        scaled_scores = scaled_scores.masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), -torch.inf)
    if window is not None and window < n - 1:
        distance = (torch.arange(n)[:, None] - torch.arange(n)).abs()
        scaled_scores = scaled_scores.masked_fill(distance > window, -torch.inf)
    return scaled_scores


def attend(scaled_scores: Tensor) -> Tensor:
    """Softmax over the keys, so that each query's weights sum to 1 (§3.2.1, equation 1)."""
    return torch.softmax(scaled_scores, dim=-1)


def mix_values(attention: Tensor, value: Tensor) -> Tensor:
    """Each query's weighted mean of the values, (H, n, d_k)."""
    return attention @ value


def project_output(context_concat: Tensor, w: LayerWeights) -> Tensor:
    """The concatenated heads times W_O (§3.2.2)."""
    return linear(context_concat, w.w_o, w.b_o)


def project_neurons(activation: Tensor, w: LayerWeights) -> Tensor:
    """The neurons times W_2 (§3.3)."""
    return linear(activation, w.w_2, w.b_2)


@dataclass(frozen=True)
class Steps:
    """The steps of a layer that can be replaced from outside, to change or to break the layer.

    The replacements are in :mod:`lab.models.interventions` and :mod:`lab.models.mistakes`.
    """

    project_qkv: Callable[[Tensor, LayerWeights, int], tuple[Tensor, Tensor, Tensor]] = project_qkv
    rotate: Callable[[Tensor, float], Tensor] = rotate
    scale: Callable[[Tensor, int], Tensor] = scale
    mask: Callable[[Tensor, bool, int | None], Tensor] = mask
    attend: Callable[[Tensor], Tensor] = attend
    mix_values: Callable[[Tensor, Tensor], Tensor] = mix_values
    project_output: Callable[[Tensor, LayerWeights], Tensor] = project_output
    activate: Callable[[Tensor, str], Tensor] = activate
    project_neurons: Callable[[Tensor, LayerWeights], Tensor] = project_neurons


PAPER = Steps()


def self_attention(x: Tensor, w: LayerWeights, config: ModelConfig, steps: Steps = PAPER) -> Attention:
    """Multi-head self-attention, §3.2.2: softmax(QKᵀ/√d_k)·V per head, heads joined, times W_O."""
    query, key, value = steps.project_qkv(x, w, config.heads)
    if w.rotary is not None:
        query, key = steps.rotate(query, w.rotary), steps.rotate(key, w.rotary)
    scores = attention_scores(query, key)
    scaled = steps.mask(steps.scale(scores, config.head_width if config.scaled_scores else 1), config.causal, w.window)
    attention = steps.attend(scaled)
    context = steps.mix_values(attention, value)
    concat = merge_heads(context)
    output = steps.project_output(concat, w)
    return Attention(query, key, value, scores, scaled, attention, context, concat, output)


def feed_forward(x: Tensor, w: LayerWeights, activation: str, steps: Steps = PAPER) -> FeedForward:
    """FFN(x) = activation(x·W_1 + b_1)·W_2 + b_2, for each token separately (§3.3).

    With a gate, each neuron's activation is multiplied by another projection of x (GeGLU, Shazeer 2020, §2).
    """
    hidden, gate = linear(x, w.w_1, w.b_1), None
    active = steps.activate(hidden, activation)
    if w.w_gate is not None and w.b_gate is not None:
        gate = linear(x, w.w_gate, w.b_gate)
        active = active * gate
    return FeedForward(hidden, active, steps.project_neurons(active, w), gate)


def post_norm_layer(x: Tensor, w: LayerWeights, config: ModelConfig, steps: Steps = PAPER) -> Layer:
    """BERT's layer: y = LayerNorm(x + attention(x)), then LayerNorm(y + FFN(y)) (§3.1, post-norm)."""
    attention = self_attention(x, w, config, steps)
    attention_residual = x + attention.output
    assert w.norm_1 is not None  # post-norm layers have both
    middle = layer_norm(attention_residual, w.norm_1, config.norm_eps)
    ffn = feed_forward(middle, w, config.activation, steps)
    ffn_residual = middle + ffn.output
    output = layer_norm(ffn_residual, w.norm_2, config.norm_eps)
    return Layer(x, attention, attention_residual, ffn, ffn_residual, output, attention_norm=middle)


def pre_norm_layer(x: Tensor, w: LayerWeights, config: ModelConfig, steps: Steps = PAPER) -> Layer:
    """GPT-2's layer: y = x + attention(LayerNorm(x)), then y + FFN(LayerNorm(y)) (Radford et al. 2019, §2.3)."""
    normed = None if w.norm_1 is None else layer_norm(x, w.norm_1, config.norm_eps)
    attention = self_attention(x if normed is None else normed, w, config, steps)
    middle = x + attention.output
    before_ffn = layer_norm(middle, w.norm_2, config.norm_eps)
    ffn = feed_forward(before_ffn, w, config.activation, steps)
    output = middle + ffn.output
    return Layer(x, attention, middle, ffn, output, output, input_norm=normed, ffn_input_norm=before_ffn)


def run_layer(x: Tensor, w: LayerWeights, config: ModelConfig, steps: Steps = PAPER) -> Layer:
    """Run one layer, with LayerNorm before or after its sublayers; x is (n, d)."""
    breathe()  # between two layers, other visitors may compute
    return pre_norm_layer(x, w, config, steps) if config.pre_norm else post_norm_layer(x, w, config, steps)


def run_model(
    x: Tensor, weights: Weights, steps: Sequence[Steps] = (), patch: Callable[[Tensor, int], Tensor] = lambda x, _: x
) -> Tensor:
    """The residual stream through all layers, (L+1, n, d): the embeddings' output ``x``, then each layer's output.

    ``steps`` has the steps of each layer; by default all steps are those of the paper. ``patch`` may change any state
    of the stream.
    """
    config = weights.config
    stream = torch.empty(config.layers + 1, *x.shape)
    stream[0] = x = patch(x, 0)
    for number, w in enumerate(weights.layers):
        output = run_layer(x, w, config, steps[number] if steps else PAPER).output
        stream[number + 1] = x = patch(output, number + 1)
    return stream


def vocabulary_logits(x: Tensor, head: VocabularyHead, config: ModelConfig) -> Tensor:
    """Logits of all words, (k, d) -> (k, vocabulary): transform (BERT only), then compare with every word.

    Devlin et al. 2019, §3.1, task 1; GPT-2 compares the hidden state itself.
    """
    if head.w is not None and head.b is not None and head.norm is not None:
        x = layer_norm(activate(linear(x, head.w, head.b), head.activation), head.norm, config.norm_eps)
    logits = x @ head.decoder.T
    return logits if head.bias is None else logits + head.bias


def pair_logits(cls: Tensor, head: PairHead) -> Tensor:
    """Two logits from the vector (d,) of [CLS]: B follows A, B is random (Devlin et al. 2019, §3.1 task 2)."""
    return linear(torch.tanh(linear(cls, head.w_pool, head.b_pool)), head.w, head.b)


def replaced_logits(x: Tensor, head: ReplacedHead, activation: str) -> Tensor:
    """n logits from (n, d); above 0, ELECTRA takes the token for a replacement (Clark et al. 2020, §2)."""
    return linear(activate(linear(x, head.w, head.b), activation), head.w_out, head.b_out)[..., 0]
