"""Induction heads, which look at B after "A B … A" (Olsson et al. 2022, "In-context Learning and
Induction Heads")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.values import Values, as_heads, layers
from lab.models.encoding import Encoding
from lab.models.trace import trace_encoding

if TYPE_CHECKING:
    from torch import Tensor

    from lab.models.loading import LoadedModel


def induction_score(attention: NDArray[Any] | Tensor, period: int) -> Values:
    """Return the mean attention of each head to the token that followed the current one last time, (H,).

    Parameters
    ----------
    attention
        (H, n, n) from a causal model that read ``period`` random tokens twice, n = 2 · period.
    period
        The length of the repeated part, at least 2.

    Returns
    -------
    The mean over the queries i of the second copy of the weight at key i - period + 1, in [0, 1].

    Raises
    ------
    ValueError
        If the sequence is not a repetition of that length, or if attention looks ahead: a model that sees the whole
        text does not need induction, and the score would say nothing.
    """
    weights = as_heads(attention)
    n = weights.shape[1]
    if period < 2 or n != 2 * period:
        raise ValueError(f"period {period}: {n} tokens are not {period} or more than one token, repeated once.")
    if np.triu(weights, 1).any():
        raise ValueError("this attention looks ahead; the induction score is for causal models.")
    return weights.diagonal(1 - period, 1, 2)[:, 1:].mean(axis=-1, dtype=np.float64)


def repeated_encoding(model: LoadedModel, period: int, seed: int = 0) -> Encoding:
    """Draw ``period`` random tokens of the vocabulary and repeat them once, without special tokens.

    Raises ValueError if the model cannot hold the tokens.
    """
    return _of_ids(model, _random_ids(model, period, seed) * 2)


def fresh_encoding(model: LoadedModel, period: int, seed: int = 0) -> Encoding:
    """Draw the control for :func:`repeated_encoding`: 2 · ``period`` random tokens, all different.

    Raises ValueError if the model cannot hold the tokens.
    """
    return _of_ids(model, _random_ids(model, period, seed, fresh=True))


def _random_ids(model: LoadedModel, period: int, seed: int, fresh: bool = False) -> list[int]:
    """Draw ``period`` random tokens of the vocabulary; if ``fresh``, 2 · ``period`` tokens, all different."""
    if not 2 <= period <= model.config.max_tokens // 2:
        raise ValueError(f"period {period}: {model.id} reads 2 to {model.config.max_tokens // 2} tokens twice.")
    added = model.tokenizer.get_added_tokens_decoder()
    usable = [i for i in range(model.tokenizer.get_vocab_size()) if i not in added]
    count = 2 * period if fresh else period
    ids: list[int] = np.random.default_rng(seed).choice(usable, size=count, replace=not fresh).tolist()
    return ids


def _of_ids(model: LoadedModel, each: list[int]) -> Encoding:
    """Make a text of the tokens with the ids ``each``; no token is special."""
    ids, none = tuple(each), (False,) * len(each)
    tokens = tuple(str(model.tokenizer.id_to_token(i)) for i in ids)
    # Random bytes may not decode to a readable text, so the tokens have no offsets into it.
    return Encoding(
        text=model.tokenizer.decode(list(ids), skip_special_tokens=False),
        pair=None,
        tokens=tokens,
        token_ids=ids,
        segment_ids=(0,) * len(ids),
        offsets=((0, 0),) * len(ids),
        word_ids=tuple(range(len(ids))),
        in_pair=none,
        special=none,
        cut=0,
    )


def model_induction(model: LoadedModel, period: int, seed: int = 0) -> Values:
    """Return the induction score of every head of a causal model on one random sequence, (L, H).

    Raises ValueError for a model that is not causal or cannot hold the sequence.
    """
    if not model.config.causal:
        raise ValueError(f"{model.id} sees the whole text; the induction score is for causal models.")
    trace = trace_encoding(model, repeated_encoding(model, period, seed))
    return np.stack([induction_score(attention, period) for attention in layers(trace)])
