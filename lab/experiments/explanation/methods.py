"""Measure by different methods how important each token of a text is to one prediction.

The prediction is the model's own likeliest word w at one place: behind a mask, or after a text that was cut off. The
methods explain s = ln P(w). Raw attention, rollout (Abnar & Zuidema 2020), the lengths ‖Σ α·f(x)‖ (Kobayashi et al.
2020) and the plainest baseline, attention averaged over all layers, come from one run. Gradient × input (Simonyan et
al. 2014) and integrated gradients (Sundararajan et al. 2017) follow s back to the word vectors. Leave-one-out blanks
each token and runs the model again.
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

from lab.analysis.flow.maps import layer_maps, rollout
from lab.analysis.heads.values import Values
from lab.analysis.words.masking import hide, maskable
from lab.evidence.relation_cases import encode_words
from lab.evidence.tables import Single
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
# Number of steps along the path of integrated gradients, at the nodes of Gauss–Legendre quadrature.
STEPS = 48
# Numbers in memory at once: 20 MB, and 60 MB while gradients are computed.
_ROOM = 5_000_000
# The name of a blank in a vocabulary that has no token for it.
MEAN = "⟨mean⟩"
_Read = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class AskedWord:
    """A text with one word for a model to predict.

    Attributes
    ----------
    text
        The text as it can be typed: with a mask in it, or cut off before the word to predict.
    encoding
        The text as the model reads it.
    place
        The token (from 0) at which the model predicts: the mask, or the last token.
    word
        The id of the word that the original text has there.
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
        """True if the predicted word comes after the text."""
        return self.place in self.context


@dataclass(frozen=True, eq=False)
class Importance:
    """The importance of each of m tokens to a prediction.

    Attributes
    ----------
    predicted, log_p
        The id of the predicted word, and ln of its probability.
    left_out
        (m,) by how much ln P falls when the token is blanked.
    scores
        By method: (layers, m) for attention, lengths and rollout, after each layer; (1, m) for the attention averaged
        over all layers, and for the two gradients, which keep their sign. Two controls: ``near`` (1, m) is minus the
        distance in tokens, ``rare`` (1, m) is minus ln(1 + count).
    change
        By how much ln P falls when all m tokens are blanked at once.
    gap
        The sum of the integrated gradients minus ``change``; it would be 0 with infinitely many steps. ``change`` and
        ``gap`` are nan if no integrated gradients were computed.
    """

    predicted: int
    log_p: float
    left_out: Single
    scores: Mapping[str, Single]
    change: float
    gap: float

    def sizes(self, method: str) -> Values:
        """Return the absolute scores of a method, (k, m); the scores of a control keep their sign."""
        found = self.scores[method]
        return np.abs(found) if method in METHODS else found


def ask(model: LoadedModel, words: Sequence[str], hidden: int) -> AskedWord | None:
    """Return the sentence with the word at ``hidden`` (from 0) to predict; None if that word is not a single piece.

    A model that fills blanks reads a mask in place of the word; a causal model reads only the words before. Raises
    ValueError for a model that is not causal and has no mask.
    """
    whole = encode_words(model, words)
    pieces = [] if whole is None else np.flatnonzero(whole[1] == hidden).tolist()
    if whole is None or len(pieces) != 1:
        return None
    word, mask = whole[0].token_ids[pieces[0]], model.mask
    if model.config.causal:
        found = encode_words(model, words[:hidden])
        if found is None:
            return None
        encoding, context = found[0], np.flatnonzero(~np.array(found[0].special)).tolist()
        return AskedWord(encoding.text, encoding, len(encoding) - 1, word, tuple(context))
    if mask is None:
        raise ValueError(model.no_words)
    found = encode_words(model, [*words[:hidden], mask[0], *words[hidden + 1 :]])
    if found is None or (encoding := found[0]).token_ids.count(mask[1]) != 1:
        return None
    return AskedWord(encoding.text, encoding, encoding.token_ids.index(mask[1]), word, maskable(encoding, mask[1]))


def importance(model: LoadedModel, asked: AskedWord, integrate: bool = True) -> Importance:
    """Apply every method to one text; integrated gradients, the slowest, only if ``integrate`` is true."""
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
    in_order = {name: scores[name] for name in (*METHODS, NEAR, RARE) if name in scores}
    return Importance(predicted, float(log_p[predicted]), left_out, in_order, change, gap)


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
    """Integrated gradients of the context (1, m), and the value of their exact sum (Sundararajan et al. 2017, §3).

    In the space of word vectors, the path is the straight line from the text with its whole context blanked to the
    text itself. Each token gets ∫ ∂s/∂v dα · (v − blank). Completeness: the exact sum over the tokens is the difference
    of s between the ends of the path.
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
    """Return a model that can read a blank, and the blank's id: the mask, or for a causal model one more word vector.

    The extra word vector is the mean of all word vectors. Positions are added to the extra vector as to any other word
    vector.
    """
    mask = model.mask
    if mask is not None and not model.config.causal:
        return model, mask
    tables = model.weights.embeddings
    token = torch.cat([tables.token, tables.token.mean(dim=0, keepdim=True)])
    config = replace(model.config, vocabulary=len(token))
    more = replace(model.weights, embeddings=replace(tables, token=token), config=config)
    return replace(model, weights=more), (MEAN, len(tables.token))


@once
def counts(model: LoadedModel) -> Mapping[int, int]:
    """Count how often each token of the vocabulary occurs in the treebank."""
    read = (encode_words(model, sentence.words) for sentence in ewt())
    return Counter(token for found in read if found is not None for token in found[0].token_ids)


def _log_p(model: LoadedModel, word: int, there: Tensor) -> Tensor:
    """ln P of a word at a place, (b,), from last hidden states there (b, d)."""
    logits = forward.vocabulary_logits(outputs(model, there), model.vocabulary_head, model.config)
    return torch.log_softmax(logits, dim=-1)[:, word]


def _vectors(model: LoadedModel, encoding: Encoding) -> Tensor:
    """Return the tokens' rows of the look-up table, (n, e)."""
    return model.weights.embeddings.token[list(encoding.token_ids)]


def _nearness(asked: AskedWord) -> Values:
    at = asked.place + asked.next
    return -np.abs(np.array(asked.context, dtype=np.float64) - at)


def _rarity(model: LoadedModel, asked: AskedWord) -> Values:
    found = counts(model)
    return -np.log1p([found.get(asked.encoding.token_ids[place], 0) for place in asked.context])
