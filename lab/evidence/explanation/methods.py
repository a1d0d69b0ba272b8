"""How much each token of a text matters to one prediction, as different methods say.

The prediction is the model's own likeliest word w at one place: behind a mask, or after a text that was cut off. What
is explained is s = ln P(w). Raw attention, rollout (Abnar & Zuidema 2020) and the lengths ‖Σ α·f(x)‖ (Kobayashi et al.
2020) are read off a run, and so is the plainest baseline, attention averaged over all layers; gradient × input
(Simonyan et al. 2014) and integrated gradients (Sundararajan et al. 2017) follow s back to the word vectors;
leave-one-out blanks each token and runs the model again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from lab.analysis.flow.maps import layer_maps
from lab.analysis.flow.rollout import rollout
from lab.analysis.heads.values import Values
from lab.analysis.words.masking import hide, mask_of, maskable
from lab.evidence.grammar.accuracy import encode_words
from lab.evidence.treebank import ewt
from lab.models import forward
from lab.models.batches import by_length, numbers_a_run, run_batch_at
from lab.models.encoding import Encoding
from lab.models.gradients import word_gradients
from lab.models.memo import once
from lab.models.trace import outputs, trace_encoding

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

ATTENTION, AVERAGE, NORMS, ROLLOUT, GRADIENT, INTEGRATED = (
    "attention",
    "average",
    "norms",
    "rollout",
    "gradient",
    "integrated",
)
NEAR, RARE = "near", "rare"
METHODS = (ATTENTION, AVERAGE, NORMS, ROLLOUT, GRADIENT, INTEGRATED)
# Steps along the path of integrated gradients, placed by Gauss and Legendre.
STEPS = 48
# Numbers at once: 20 MB, and three times as much where gradients are asked for.
_ROOM = 5_000_000
# What a blank is called where the vocabulary has no token for it.
MEAN = "⟨mean⟩"
_Read = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class AskedWord:
    """A text that a model is asked about.

    Attributes
    ----------
    text
        As it can be typed: with a mask in it, or cut off.
    encoding
        As the model reads it.
    place
        The token (from 0) at which it is asked: the mask, or the last one.
    word
        The id of the word that stands there in truth.
    context
        The tokens whose importance is measured: all but special ones and the mask.
    """

    text: str
    encoding: Encoding
    place: int
    word: int
    context: tuple[int, ...]

    @property
    def next(self) -> bool:
        """Whether the word that is asked for comes after the text."""
        return self.place in self.context


@dataclass(frozen=True, eq=False)
class Importance:
    """What each of m tokens is worth to a prediction.

    Attributes
    ----------
    predicted, log_p
        The id of the word that is explained, and ln of its probability.
    left_out
        (m,) by how much ln P falls when the token is blanked.
    scores
        By method: (layers, m) for attention, lengths and rollout, each after that layer; (1, m) for the attention
        averaged over all layers, and for the two gradients, with their sign; ``near`` (1, m) is minus the distance in
        tokens, ``rare`` minus ln(1 + count).
    change
        By how much ln P falls when all m tokens are blanked at once.
    gap
        The sum of the integrated gradients less ``change``: 0 but for the finite number of steps. Both nan without
        them.
    """

    predicted: int
    log_p: float
    left_out: Values
    scores: Mapping[str, Values]
    change: float
    gap: float

    def sizes(self, method: str) -> Values:
        """How important each token is by a method, (k, m), whatever the sign; controls as they are."""
        found = self.scores[method]
        return np.abs(found) if method in METHODS else found


def ask(model: LoadedModel, words: Sequence[str], hidden: int) -> AskedWord | None:
    """The sentence with the word at ``hidden`` (from 0) to find; None where that word is not one piece.

    A model that fills blanks reads a mask there; a causal one reads the words before. Raises ValueError for a model
    without a mask that is not causal.
    """
    whole = encode_words(model, words)
    pieces = [] if whole is None else np.flatnonzero(whole[1] == hidden).tolist()
    if whole is None or len(pieces) != 1:
        return None
    word, mask = whole[0].token_ids[pieces[0]], mask_of(model.tokenizer)
    if model.config.causal:
        found = encode_words(model, words[:hidden])
        if found is None:
            return None
        encoding, context = found[0], np.flatnonzero(~np.array(found[0].special)).tolist()
        return AskedWord(encoding.text, encoding, len(encoding) - 1, word, tuple(context))
    if mask is None:
        raise ValueError(f"{model.id} has no token that hides another.")
    found = encode_words(model, [*words[:hidden], mask[0], *words[hidden + 1 :]])
    if found is None or (encoding := found[0]).token_ids.count(mask[1]) != 1:
        return None
    return AskedWord(encoding.text, encoding, encoding.token_ids.index(mask[1]), word, maskable(encoding, mask[1]))


def importance(model: LoadedModel, asked: AskedWord, integrate: bool = True) -> Importance:
    """Every method on one text; the slowest, integrated gradients, only where they are wanted."""
    trace, context = trace_encoding(model, asked.encoding), list(asked.context)
    log_p = torch.log_softmax(trace.logits(asked.place)[0], dim=-1)
    predicted = int(log_p.argmax())
    read = partial(_log_p, model, predicted)
    weights, norms = layer_maps(trace, None), layer_maps(trace, None, norms=True)
    rolled = np.stack([rollout(weights[: layer + 1]) for layer in range(len(weights))])
    maps = {ATTENTION: weights, NORMS: norms, ROLLOUT: rolled}
    vectors = _vectors(model, asked.encoding)
    slope, _ = word_gradients(model, asked.encoding, vectors[None], asked.place, read)
    scores = {name: each[:, asked.place, context].astype(np.float64) for name, each in maps.items()}
    scores[AVERAGE] = scores[ATTENTION].mean(axis=0, keepdims=True)
    products = (slope[0] * vectors).sum(-1)[context]
    scores |= {GRADIENT: products.numpy().astype(np.float64)[None]}
    scores |= {NEAR: _nearness(asked)[None], RARE: _rarity(model, asked)[None]}
    change = gap = float("nan")
    if integrate:
        scores[INTEGRATED], change = integrated_gradients(model, asked, read)
        gap = float(scores[INTEGRATED].sum()) - change
    left_out = float(log_p[predicted]) - without_each(model, asked, read)
    return Importance(predicted, float(log_p[predicted]), left_out, scores, change, gap)


@torch.inference_mode()
def without_each(model: LoadedModel, asked: AskedWord, read: _Read) -> Values:
    """ln P of the prediction with one token of the context blanked at a time, (m,)."""
    able, blank = with_blank(model)
    texts = [hide(asked.encoding, (place,), blank) for place in asked.context]
    found = np.empty(len(texts))
    for batch in by_length(texts, lambda n: _ROOM // numbers_a_run(model.config, n)):
        there = run_batch_at(able, [texts[at] for at in batch], torch.tensor([asked.place]))
        found[batch] = read(there).numpy()
    return found


def integrated_gradients(model: LoadedModel, asked: AskedWord, read: _Read, steps: int = STEPS) -> tuple[Values, float]:
    """Integrated gradients of the context (1, m), and what they must add up to (Sundararajan et al. 2017, §3).

    The path leads straight from the text whose whole context is blanked to the text as it is, in the word vectors. Each
    token gets ∫ ∂s/∂v dα · (v − blank). Completeness: their sum is the difference of s at both ends.
    """
    able, blank = with_blank(model)
    here = _vectors(model, asked.encoding)
    away = _vectors(able, hide(asked.encoding, asked.context, blank))
    nodes, weights = np.polynomial.legendre.leggauss(steps)
    shares = torch.tensor((nodes + 1) / 2, dtype=here.dtype)[:, None, None]
    parts = torch.tensor(weights / 2, dtype=here.dtype)[:, None, None]
    slope = torch.zeros_like(here)
    size = max(1, _ROOM // numbers_a_run(model.config, len(here)))
    for share, part in zip(shares.split(size), parts.split(size), strict=True):
        found, _ = word_gradients(model, asked.encoding, away + share * (here - away), asked.place, read)
        slope += (part * found).sum(0)
    _, ends = word_gradients(model, asked.encoding, torch.stack([here, away]), asked.place, read)
    each = ((here - away) * slope).sum(-1)[list(asked.context)]
    return each.numpy().astype(np.float64)[None], float(ends[0] - ends[1])


def with_blank(model: LoadedModel) -> tuple[LoadedModel, tuple[str, int]]:
    """A model that can read a blank, and the blank: the mask, or for a causal model one more word vector.

    That one is the mean of all word vectors. Positions are added to it as to any other.
    """
    mask = mask_of(model.tokenizer)
    if mask is not None and not model.config.causal:
        return model, mask
    tables = model.weights.embeddings
    token = torch.cat([tables.token, tables.token.mean(dim=0, keepdim=True)])
    more = replace(model.weights, embeddings=replace(tables, token=token))
    return replace(model, weights=more), (MEAN, len(tables.token))


@once
def counts(model: LoadedModel) -> Mapping[int, int]:
    """How often each token of the vocabulary stands in the treebank."""
    read = (encode_words(model, sentence.words) for sentence in ewt())
    return Counter(token for found in read if found is not None for token in found[0].token_ids)


def _log_p(model: LoadedModel, word: int, there: Tensor) -> Tensor:
    """ln P of a word at a place, (b,), from last hidden states there (b, d)."""
    logits = forward.vocabulary_logits(outputs(model, there), model.vocabulary_head, model.config)
    return torch.log_softmax(logits, dim=-1)[:, word]


def _vectors(model: LoadedModel, encoding: Encoding) -> Tensor:
    """The tokens' rows of the look-up table, (n, e)."""
    return model.weights.embeddings.token[list(encoding.token_ids)]


def _nearness(asked: AskedWord) -> Values:
    at = asked.place + asked.next
    return -np.abs(np.array(asked.context, dtype=np.float64) - at)


def _rarity(model: LoadedModel, asked: AskedWord) -> Values:
    found = counts(model)
    return -np.log1p([found.get(asked.encoding.token_ids[place], 0) for place in asked.context])
