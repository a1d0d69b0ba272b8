"""Two one-layer BERTs that read sentences of letters: one with random weights, one written by hand.

Both are ordinary checkpoints in memory: ``lab.models.trace.trace(model, "c e b")`` runs them
through the same forward pass as BERT base, and ``prove`` compares them with Hugging Face.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from torch import Tensor

from lab.models.families.registry import read_weights
from lab.models.loading import Checkpoint, LoadedModel
from lab.models.memo import once
from lab.models.trace import Trace, trace
from lab.models.weights import EmbeddingWeights, LayerWeights, Norm
from lab.toy.data import letter
from lab.toy.settings import check_settings

if TYPE_CHECKING:
    import pandas as pd

RANDOM = "toy-random"
CONSTRUCTED = "toy-constructed"
UNKNOWN, BLANK = "[UNK]", "[MASK]"
# The names of the constructed toy's heads, by the keys that they look for.
CONSTRUCTED_HEADS = ("previous token", "same token", "average")
# The rules of the heads, each as the end of a sentence "the head was written to …".
HEAD_RULES = ("look at the token before", "look at equal tokens", "look at all tokens alike")
# The scaled score of a key that a constructed head looks for; all other keys score 0. In the longest sentence, with 31
# other keys, such a key gets e^10 / (e^10 + 31) = 0.9986 of the attention.
MATCH_SCORE = 10.0
# The standard deviation of the random toy's scaled scores, large enough that rows of attention are far from uniform.
_RANDOM_SCORE_STD = 2.0
_NORM_EPS = 1e-12
_SEGMENTS = 2

# names in LayerWeights -> names in Hugging Face's module, for the matrices with biases and for the LayerNorms
_LINEARS = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "o": "attention.output.dense",
    "1": "intermediate.dense",
    "2": "output.dense",
}
_NORMS = {"norm_1": "attention.output.LayerNorm", "norm_2": "output.LayerNorm"}


def is_toy(model: LoadedModel) -> bool:
    """True if a model reads sentences of letters.

    A checkpoint in a folder never reads sentences of letters, whatever its name is.
    """
    return not isinstance(model.source, Path) and model.id.startswith("toy-")


def letter_tokenizer(vocabulary: int, *, blanks: bool = False) -> Tokenizer:
    """Make a tokenizer with one token for each letter; the id of the n-th letter is n, and 0 is for unknown words.

    With ``blanks``, the next id after the letters belongs to [MASK].
    """
    ids = {UNKNOWN: 0, **{letter(word): word for word in range(1, vocabulary + 1)}}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    if blanks:
        tokenizer.add_special_tokens([BLANK])
    return tokenizer


def _tensors(embeddings: EmbeddingWeights, layer: LayerWeights) -> dict[str, Tensor]:
    """Return the state dict of Hugging Face's ``BertModel``; its matrices are (out, in), ours (in, out)."""
    tables = {"word": embeddings.token, "position": embeddings.position, "token_type": embeddings.segment}
    tensors = {f"embeddings.{name}_embeddings.weight": t for name, t in tables.items() if t is not None}
    for ours, theirs in _LINEARS.items():
        at = f"encoder.layer.0.{theirs}"
        tensors[f"{at}.weight"] = getattr(layer, f"w_{ours}").T.contiguous()
        tensors[f"{at}.bias"] = getattr(layer, f"b_{ours}")
    norms = {f"encoder.layer.0.{theirs}": getattr(layer, ours) for ours, theirs in _NORMS.items()}
    for name, own in {"embeddings.LayerNorm": embeddings.norm, **norms}.items():
        tensors[f"{name}.weight"], tensors[f"{name}.bias"] = own.gamma, own.beta
    return tensors


def load_toy(
    name: str, heads: int, embeddings: EmbeddingWeights, layer: LayerWeights, tokenizer: Tokenizer | None = None
) -> LoadedModel:
    """Make a checkpoint from weights and load it like any other checkpoint; the default tokenizer reads letters."""
    assert embeddings.position is not None  # a toy has a table of positions, as BERT has
    (words, width), positions = embeddings.token.shape, len(embeddings.position)
    config: dict[str, Any] = {
        "model_type": "bert",
        "vocab_size": words,
        "hidden_size": width,
        "num_hidden_layers": 1,
        "num_attention_heads": heads,
        "intermediate_size": layer.w_1.shape[1],
        "max_position_embeddings": positions,
        "type_vocab_size": _SEGMENTS,
        "hidden_act": "gelu",
        "layer_norm_eps": _NORM_EPS,
        "pad_token_id": None,  # Hugging Face's default is 0, which is [UNK] here
    }
    tensors = _tensors(embeddings, layer)
    return LoadedModel(
        name, read_weights(config, tensors), tokenizer or letter_tokenizer(words - 1), Checkpoint(config, tensors)
    )


def plain_layer(
    w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, ffn: tuple[Tensor, Tensor], norm: Norm
) -> LayerWeights:
    """Return a layer whose biases are 0 and whose LayerNorms are both ``norm``."""
    (w_1, w_2), zero = ffn, torch.zeros(len(w_q))
    b_1 = torch.zeros(w_1.shape[1])
    return LayerWeights(w_q, zero, w_k, zero, w_v, zero, w_o, zero, norm, w_1, b_1, w_2, zero, norm)


def random_toy(vocabulary: int, max_length: int, heads: int = 4, head_width: int = 8, seed: int = 0) -> LoadedModel:
    """Make a layer that has learned nothing: normally distributed matrices with mean 0, biases 0, LayerNorm plain.

    The standard deviation is √(2 / inputs). Embeddings leave their LayerNorm with variance 1, so
    queries and keys have variance 2, and QKᵀ/√d_k has a standard deviation near 2 at every width;
    BERT's initial 0.02 would leave every row of attention nearly uniform. Raises
    :class:`lab.toy.settings.SettingError` for a setting out of bounds.
    """
    check_settings(vocabulary=vocabulary, max_length=max_length, heads=heads, head_width=head_width, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    width = heads * head_width

    def table(rows: int) -> Tensor:
        return torch.randn(rows, width, generator=generator)

    def matrix(inputs: int, outputs: int) -> Tensor:
        return torch.randn(inputs, outputs, generator=generator) * math.sqrt(_RANDOM_SCORE_STD / inputs)

    plain = Norm(torch.ones(width), torch.zeros(width))
    embeddings = EmbeddingWeights(table(vocabulary + 1), table(max_length), table(_SEGMENTS), plain)
    w_q, w_k, w_v, w_o = (matrix(width, width) for _ in range(4))
    ffn = matrix(width, 4 * width), matrix(4 * width, width)
    made = partial(random_toy, vocabulary, max_length, heads, head_width, seed)
    return replace(load_toy(RANDOM, heads, embeddings, plain_layer(w_q, w_k, w_v, w_o, ffn, plain)), made=made)


@dataclass(frozen=True)
class _Layout:
    """The meaning of each dimension of the constructed toy.

    There is one dimension for each token id, then one for each position, then for each head one for each token id,
    to which the head writes the tokens that it found. Dimensions left over at the end stay empty.
    """

    words: int  # token ids, [UNK] included
    positions: int

    @property
    def heads(self) -> int:
        return len(CONSTRUCTED_HEADS)

    @property
    def used(self) -> int:
        return self.words + self.positions + self.heads * self.words

    @property
    def head_width(self) -> int:
        # One dimension for everything that a head compares or copies, and at least ``used`` dimensions in all heads.
        return max(self.words, self.positions, math.ceil(self.used / self.heads))

    @property
    def width(self) -> int:
        return self.heads * self.head_width

    @property
    def token(self) -> slice:
        return slice(0, self.words)

    @property
    def position(self) -> slice:
        return slice(self.words, self.words + self.positions)

    def found(self, head: int) -> slice:
        """Return the dimensions of the residual stream to which ``head`` writes the tokens that it attended to."""
        start = self.words + self.positions + head * self.words
        return slice(start, start + self.words)

    def inside(self, head: int, size: int) -> slice:
        """Return the first ``size`` of the d_k dimensions of ``head``, among the columns of W_Q, W_K and W_V."""
        return slice(head * self.head_width, head * self.head_width + size)

    def labels(self) -> list[str]:
        tokens = [f"token {word}" for word in (UNKNOWN, *map(letter, range(1, self.words)))]
        found = [f"{head}: {token}" for head in CONSTRUCTED_HEADS for token in tokens]
        positions = [f"position {i}" for i in range(self.positions)]
        return [*tokens, *positions, *found, *(f"empty {i}" for i in range(self.width - self.used))]


def restoring_norm(ones: int, width: int) -> Norm:
    """Make the LayerNorm that does not change a row of ``ones`` ones and otherwise zeros.

    All such rows have the same mean and variance, so γ = √(variance + ε) and β = mean undo the
    normalisation of each row.
    """
    mean = ones / width
    gamma = math.sqrt(mean * (1 - mean) + _NORM_EPS)
    return Norm(torch.full((width,), gamma), torch.full((width,), mean))


def _constructed_queries_and_keys(at: _Layout) -> tuple[Tensor, Tensor]:
    """Return W_Q and W_K, both (d, d). A key encodes a token or its position; a query encodes the key to look for."""
    w_q, w_k = torch.zeros(at.width, at.width), torch.zeros(at.width, at.width)
    match = MATCH_SCORE * math.sqrt(at.head_width)  # multiplied by √d_k, because scaling divides by √d_k
    previous, same = at.inside(0, at.positions), at.inside(1, at.words)
    # Position i looks for position i - 1. Position 0 looks for nothing, so its row stays 0.
    w_q[at.position, previous] = match * torch.diag(torch.ones(at.positions - 1), -1)
    w_k[at.position, previous] = torch.eye(at.positions)
    w_q[at.token, same] = match * torch.eye(at.words)
    w_k[at.token, same] = torch.eye(at.words)
    return w_q, w_k


def constructed_toy(vocabulary: int, max_length: int) -> LoadedModel:
    """Make a layer of three heads whose weights were written by hand: :data:`CONSTRUCTED_HEADS`, in this order.

    Token and position embeddings are one-hot in separate dimensions, segments are 0, and the
    embeddings' LayerNorm restores their sum, so each row that enters the layer has two ones and otherwise zeros.
    Head 0 attends to the token before. The first token has no token before it, so all its scores are 0, and the
    softmax makes it attend to every token equally. Head 1 attends to all tokens equal to the query,
    including the query itself. Head 2 has W_Q = W_K = 0 and attends to every token equally. Each head copies the
    one-hot tokens that it attends to into separate dimensions; the feed-forward network adds 0. The two
    later LayerNorms restore a row in which each head found one kind of token, and rescale any other row.
    Raises :class:`lab.toy.settings.SettingError` for a setting out of bounds. The idea of heads that
    read and write subspaces of the residual stream comes from Elhage et al. 2021, "A Mathematical Framework for
    Transformer Circuits".
    """
    check_settings(vocabulary=vocabulary, max_length=max_length)
    at = _Layout(vocabulary + 1, max_length)
    token, position = torch.zeros(at.words, at.width), torch.zeros(at.positions, at.width)
    token[:, at.token], position[:, at.position] = torch.eye(at.words), torch.eye(at.positions)
    w_v, w_o = torch.zeros(at.width, at.width), torch.zeros(at.width, at.width)
    for head in range(at.heads):
        copied = at.inside(head, at.words)
        w_v[at.token, copied] = torch.eye(at.words)
        w_o[copied, at.found(head)] = torch.eye(at.words)
    ffn = torch.zeros(at.width, 4 * at.width), torch.zeros(4 * at.width, at.width)
    after_embeddings, after_heads = restoring_norm(2, at.width), restoring_norm(2 + at.heads, at.width)
    layer = plain_layer(*_constructed_queries_and_keys(at), w_v, w_o, ffn, after_heads)
    embeddings = EmbeddingWeights(token, position, torch.zeros(_SEGMENTS, at.width), after_embeddings)
    made = partial(constructed_toy, vocabulary, max_length)
    return replace(load_toy(CONSTRUCTED, at.heads, embeddings, layer), made=made)


def dimension_labels(model: LoadedModel) -> list[str]:
    """Return a name for each of the d dimensions, or only a number if a dimension has no defined meaning.

    The constructed toy has "token c", "position 0" (positions count from 0, as in the look-up table),
    "previous token: token c" for a token that a head found, and "empty 0".
    """
    config = model.config
    if model.id == CONSTRUCTED:
        return _Layout(config.vocabulary, config.max_tokens).labels()
    return [f"dimension {i}" for i in range(config.width)]


def query_key_product(model: LoadedModel, head: int) -> pd.DataFrame:
    """W_Q·W_Kᵀ of a head of the first layer, (d, d): the score of each dimension of a query with each of a key.

    If biases are 0, as in both toys, the score of two tokens is x_i · W_Q·W_Kᵀ · x_jᵀ, before the
    division by √d_k. Rows and columns are named by :func:`dimension_labels`. Raises IndexError for a head
    that the model does not have.
    """
    import pandas as pd

    if not 0 <= head < model.config.heads:
        raise IndexError(f"head {head}: {model.id} has heads 0 to {model.config.heads - 1}.")
    layer, d_k = model.weights.layers[0], model.config.head_width
    own, labels = slice(head * d_k, (head + 1) * d_k), dimension_labels(model)
    return pd.DataFrame((layer.w_q[:, own] @ layer.w_k[:, own].T).numpy(), index=labels, columns=labels)


def recut(model: LoadedModel, heads: int) -> LoadedModel:
    """Return a toy with the same matrices but ``heads`` heads; only the configuration contains the number of heads.

    Head h then owns other columns of W_Q, W_K and W_V. The new number of heads is part of the model's name. Raises
    :class:`lab.models.config.CheckpointError` for a number that does not divide the width, and TypeError
    for a model whose checkpoint is a folder.
    """
    if heads == model.config.heads:
        return model
    if not isinstance(model.source, Checkpoint):
        raise TypeError(f"{model.id} was read from a folder; only a model made in memory can be cut anew.")
    config = {**model.source.config, "num_attention_heads": heads}
    tensors = model.source.tensors
    weights = read_weights(config, tensors)
    made: Any = model.made and partial(cast("Any", recut), model.made, heads)
    return LoadedModel(f"{model.id}, {heads} heads", weights, model.tokenizer, Checkpoint(config, tensors), made)


@once
def number_run(toy: LoadedModel, sentence: str, pair: str | None = None) -> Trace:
    """Run a toy on one sentence, or on two as a pair, by the same forward pass as for any other text.

    The cached run keeps the toy, which is small, in memory until the run is dropped.
    """
    return trace(toy, sentence, pair)
