"""Find the words with the most similar vectors to a word: in the token table, and after the last layer.

Similarity is the cosine of the angle between two vectors (Mikolov et al. 2013, §4): 1 if both point in the same
direction, 0 if they form a right angle. Tokens, layers and ids count from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders

from lab.analysis.layers.excitation import equally_long
from lab.models import forward
from lab.models.encoding import encode, word_of
from lab.models.memo import once
from lab.models.trace import Trace, inputs, outputs

if TYPE_CHECKING:
    from torch import Tensor

    from lab.models.loading import LoadedModel

Array = NDArray[np.float32]
Values = NDArray[np.float64]
# The number of rows of the table that are compared at once: 8 MB in float64 for lab-minilm.
_ROWS = 2048


@dataclass(frozen=True)
class Neighbour:
    """A word whose vector is similar to another word's vector, and the cosine of the two vectors.

    ``text`` is the number of the word's sentence, from 0; None if the vector comes from the token table.
    """

    word: str
    cosine: float
    text: int | None = None


@dataclass(frozen=True)
class Neighbours:
    """The nearest words, nearest first, and the value by chance: the mean cosine with all ``count`` words."""

    nearest: tuple[Neighbour, ...]
    mean: float
    count: int


def is_whole(tokenizer: Tokenizer, token_id: int) -> bool:
    """True if a token of the vocabulary begins a word and has only letters, at least two.

    Some such tokens only occur as beginnings of longer words, which cannot be seen from the vocabulary.
    """
    name = word_of(tokenizer, token_id)
    if isinstance(tokenizer.decoder, decoders.ByteLevel):
        if not name.startswith("␣"):
            return False
        name = name.removeprefix("␣")
    return len(name) > 1 and name.isalpha()


@once
def vocabulary_words(model: LoadedModel) -> tuple[int, ...]:
    """The ids of the whole words (see :func:`is_whole`).

    If there are no whole words, as in a toy, these are all ids but the special ones.
    """
    special = {i for i, token in model.tokenizer.get_added_tokens_decoder().items() if token.special}
    ids = range(min(len(model.weights.embeddings.token), model.tokenizer.get_vocab_size()))
    whole = tuple(each for each in ids if is_whole(model.tokenizer, each))
    return whole or tuple(each for each in ids if each not in special and each != model.unknown)


def some(ids: Sequence[int]) -> Iterator[list[int]]:
    """Yield ``ids`` in parts, because all rows and their copies would take more memory than the model."""
    return (list(ids[start : start + _ROWS]) for start in range(0, len(ids), _ROWS))


@once
def nearest_in_table(model: LoadedModel, token_id: int, k: int) -> Neighbours:
    """The ``k`` whole words, other than ``token_id``, whose rows in the token table are most similar to its row."""
    ids = [each for each in vocabulary_words(model) if each != token_id]
    table = model.weights.embeddings.token
    vector = table[token_id].numpy()
    cosines = np.concatenate([_cosines(_unit(table[part].numpy()), vector) for part in some(ids)] or [np.empty(0)])
    return _nearest(cosines, k, lambda at: Neighbour(word_of(model.tokenizer, ids[at]), float(cosines[at])))


@dataclass(frozen=True, eq=False)
class WordPlaces:
    """The m whole words of many texts: their unit vectors after the last layer (m, d), token ids and texts.

    If no token is a whole word, as in a toy, all tokens but the special ones are included.
    """

    vectors: Array
    token_ids: tuple[int, ...]
    texts: tuple[int, ...]


@once
@torch.inference_mode()
def places_in(model: LoadedModel, texts: tuple[str, ...]) -> WordPlaces:
    """Let ``model`` read ``texts``, and keep the last vector of each whole word."""
    encodings = tuple(encode(model.tokenizer, model.config, text) for text in texts)
    words = {each for encoding in encodings for each in encoding.token_ids if is_whole(model.tokenizer, each)}
    rows: list[tuple[int, int, Array]] = []
    for batch in equally_long(encodings):
        ids, segments, positions = (
            torch.stack(parts) for parts in zip(*(inputs(model, encodings[text]) for text in batch), strict=True)
        )
        x = forward.embed(ids, segments, positions, model.weights.embeddings, model.config.norm_eps).output
        last = outputs(model, forward.run_model(x, model.weights)[-1])
        for text, vectors in zip(batch, last, strict=True):
            encoding = encodings[text]
            for place, token_id in enumerate(encoding.token_ids):
                if token_id in words or (not words and not encoding.special[place]):
                    rows.append((token_id, text, vectors[place].numpy()))
    if not rows:
        return WordPlaces(np.empty((0, model.config.width), np.float32), (), ())
    token_ids, numbers, vectors = zip(*rows, strict=True)
    return WordPlaces(_unit(np.stack(vectors)), tuple(token_ids), tuple(numbers))


@once
def nearest_in_texts(model: LoadedModel, token_id: int, vector: Tensor, texts: tuple[str, ...], k: int) -> Neighbours:
    """Return the ``k`` words in ``texts`` whose last vectors are most similar to ``vector``, (d,), of a token.

    Each word counts once, at its nearest place; occurrences of the same word are left out, whatever their meaning.
    """
    places = places_in(model, texts)
    cosines = _cosines(places.vectors, vector.numpy())
    kept: list[int] = []
    seen = {token_id}
    for at in np.argsort(-cosines, kind="stable"):
        if len(kept) < k and places.token_ids[at] not in seen:
            seen.add(places.token_ids[at])
            kept.append(int(at))
    found = tuple(
        Neighbour(word_of(model.tokenizer, places.token_ids[at]), float(cosines[at]), places.texts[at]) for at in kept
    )
    return Neighbours(found, float(cosines.mean()) if len(cosines) else 0.0, len(cosines))


def states_of(trace: Trace, token: int) -> Tensor:
    """Return the vectors of a token before the first layer and after each layer, (L+1, d).

    The last one is the output, which comes after a final LayerNorm if the model has a final LayerNorm.
    """
    return torch.cat([trace.hidden_states[:-1, token], trace.output[None, token]])


def cosine_by_state(here: Tensor, there: Tensor) -> Values:
    """Return the cosine of the vectors of two tokens in each state, (L+1, d) and (L+1, d) -> (L+1,)."""
    return torch.nn.functional.cosine_similarity(here.double(), there.double(), dim=-1).numpy()


def _nearest(cosines: Values, k: int, of: Callable[[int], Neighbour]) -> Neighbours:
    best = np.argsort(-cosines, kind="stable")[:k].tolist()
    return Neighbours(tuple(of(at) for at in best), float(cosines.mean()) if len(cosines) else 0.0, len(cosines))


def _unit(rows: Array) -> Array:
    """Return the rows (m, d), each divided by its length; a row of zeros stays 0."""
    sizes = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(sizes == 0, 1, sizes)).astype(np.float32)


def _cosines(unit: Array, vector: Array) -> Values:
    """Return the cosines of unit rows with ``vector``, (m,); 0 for a vector of zeros."""
    found: Values = unit.astype(np.float64) @ (vector / (np.linalg.norm(vector) or 1.0)).astype(np.float64)
    return found
