"""The matrices of a model for the forward pass, with the names of Vaswani et al. (2017).

Checkpoints differ in how they name, pack and transpose the same matrices. :mod:`lab.models.families`
removes these differences, so that ``forward.py`` reads like the paper.

Every matrix is stored for ``x @ w + b``: inputs are rows, ``w`` is (in, out).
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from lab.models.config import ModelConfig


@dataclass(frozen=True, eq=False)
class Norm:
    """LayerNorm's gain γ and bias β, both (width,) (Ba et al. 2016)."""

    gamma: Tensor
    beta: Tensor


@dataclass(frozen=True, eq=False)
class EmbeddingWeights:
    """Look-up tables. ``segment`` is None in a model without segments, ``norm`` is None in GPT-2.

    ``position`` is None if queries and keys are rotated by their positions instead (ModernBERT).

    ``project`` is ELECTRA's (embedding, width) matrix and bias when the two widths differ.
    """

    token: Tensor  # (vocabulary, e)
    position: Tensor | None  # (positions, e)
    segment: Tensor | None  # (segments, e)
    norm: Norm | None
    project: tuple[Tensor, Tensor] | None = None


@dataclass(frozen=True, eq=False)
class LayerWeights:
    """One layer. Head h owns columns h·d_k … (h+1)·d_k of w_q, w_k, w_v and the same rows of w_o.

    ``norm_1`` and ``norm_2`` come after the two residual sums (BERT) or before the two sublayers (GPT-2). ModernBERT's
    first layer has no ``norm_1``, because the embeddings end with a LayerNorm. ModernBERT's layers rotate queries and
    keys (``rotary`` is the base of the wavelengths) and multiply the neurons by a gate; in most layers, a token sees
    only ``window`` tokens to either side.
    """

    w_q: Tensor  # (width, width)
    b_q: Tensor
    w_k: Tensor
    b_k: Tensor
    w_v: Tensor
    b_v: Tensor
    w_o: Tensor
    b_o: Tensor
    norm_1: Norm | None
    w_1: Tensor  # (width, ffn_width)
    b_1: Tensor
    w_2: Tensor  # (ffn_width, width)
    b_2: Tensor
    norm_2: Norm
    w_gate: Tensor | None = None  # (width, ffn_width)
    b_gate: Tensor | None = None
    rotary: float | None = None
    window: int | None = None  # None: all tokens


@dataclass(frozen=True, eq=False)
class VocabularyHead:
    """The weights that turn a hidden state into a logit for every word of the vocabulary.

    BERT's masked-language head first transforms (``w``, ``b``, ``activation``, ``norm``); GPT-2's
    head is the (vocabulary, width) ``decoder`` alone.
    """

    decoder: Tensor  # (vocabulary, width), usually the token embeddings themselves
    bias: Tensor | None
    w: Tensor | None = None
    b: Tensor | None = None
    norm: Norm | None = None
    activation: str = "gelu"


@dataclass(frozen=True, eq=False)
class PairHead:
    """BERT's next-sentence head: pooler (tanh) on [CLS], then two logits: is next, is random."""

    w_pool: Tensor
    b_pool: Tensor
    w: Tensor  # (width, 2)
    b: Tensor


@dataclass(frozen=True, eq=False)
class ReplacedHead:
    """ELECTRA's discriminator, which turns a hidden state into one logit: is this token a replacement?"""

    w: Tensor
    b: Tensor
    w_out: Tensor  # (width, 1)
    b_out: Tensor


@dataclass(frozen=True, eq=False)
class Weights:
    """All weights that a forward pass needs. ``final_norm`` is GPT-2's LayerNorm after the last layer."""

    config: ModelConfig
    embeddings: EmbeddingWeights
    layers: tuple[LayerWeights, ...]
    final_norm: Norm | None
    vocabulary_head: VocabularyHead | None
    pair_head: PairHead | None
    replaced_head: ReplacedHead | None = None
