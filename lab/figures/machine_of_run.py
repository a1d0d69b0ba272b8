"""The picture of a whole model: one text, from its tokens through the layers to the word at one of them."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from lab.analysis.words.masking import is_hidden, place_to_start, typed_masks
from lab.analysis.words.predictions import candidates, prediction_at
from lab.charts.components.machine_picture import Machine, OpenHead, Part, Values
from lab.charts.components.word_forms_picture import LEADS, PLAIN, Spans
from lab.course.words import in_words
from lab.figures.forming import MOST, bare, said
from lab.models.layer_trace import LayerTrace
from lab.models.trace import Trace

ROWS = 24  # the most tokens that are drawn
NUMBERS = 48  # the numbers of each token in a part: the first of a vector, the most changeable of the neurons
# The most bytes that all layers may send; of a model with more, one layer is sent.
_MOST_BYTES = 66_000


def machine(trace: Trace, watched: int | None = None, layer: int | None = None, head: int | None = None) -> Machine:
    """Draw the picture of a run.

    Parameters
    ----------
    watched
        The token that is followed to its word, from 0; if None, the first blank, or the last token.
    layer
        The layer that is shown first, the only one of a large model; if None, the last one.
    head
        The head of that layer whose matrices are shown, if any.

    Raises
    ------
    IndexError
        There is no such token, layer or head.
    """
    config, at = trace.model.config, first_watched(trace) if watched is None else watched
    if not 0 <= at < len(trace):
        raise IndexError(f"token {at}: the text has tokens 0 to {len(trace) - 1}.")
    if head is not None and not 0 <= head < config.heads:
        raise IndexError(f"head {head}: {trace.model.id} has heads 0 to {config.heads - 1}.")
    rows, last = around(at, len(trace)), config.layers - 1 if layer is None else layer
    sent = range(config.layers) if _bytes(trace, len(rows)) <= _MOST_BYTES else range(last, last + 1)
    layers = [trace.layer(each) for each in sent]
    maps = np.stack([_array(each.attention) for each in layers])
    return Machine(
        title=f"The whole model at work on your text: {trace.model.id}",
        tokens=[bare(trace.labels[token]) for token in rows],
        ids=[trace.token_ids[token] for token in rows],
        special=[trace.encoding.special[token] and not is_hidden(trace, token) for token in rows],
        watched=rows.index(at),
        is_blank=[is_hidden(trace, token) for token in rows],
        others=len(trace) - len(rows),
        text=f"{zlib.crc32(repr((trace.text, trace.pair, rows)).encode()):08x}",
        parts=_parts(trace),
        layers=config.layers,
        first=sent[0],
        layer=last,
        states=_array(trace.hidden_states[sent[0] : sent[-1] + 2])[:, rows.start : rows.stop, :NUMBERS],
        maps=maps[:, :, rows.start : rows.stop, rows.start : rows.stop],
        most=_most(maps, rows),
        strips=_strips(trace, layers, rows),
        words=_words(trace, at),
        ending=_ending(trace, at),
        unread=_unread(trace),
        next_words=config.causal and not trace.model.headless,
        opened=None if head is None else _opened(trace.layer(last), head, rows),
    )


def first_watched(trace: Trace) -> int:
    """The token that is watched at first: the first blank, the last word, or a causal model's last token."""
    if trace.model.config.causal:
        return len(trace) - 1
    mask = trace.model.mask
    mask_id = -1 if mask is None else mask[1]
    return next(iter((*typed_masks(trace.encoding, mask_id), *place_to_start(trace.encoding, mask_id))), 0)


def around(watched: int, n: int) -> range:
    """The tokens that are drawn: all, or those around the watched one.

    >>> around(2, 9), around(30, 60), around(58, 60)
    (range(0, 9), range(18, 42), range(36, 60))
    """
    start = max(0, min(watched - ROWS // 2, n - ROWS))
    return range(start, min(n, start + ROWS))


def _array(tensor: Tensor) -> Values:
    return tensor.numpy().astype(np.float32, copy=False)


def _bytes(trace: Trace, rows: int) -> int:
    """The bytes of all layers in the browser, where each number is one byte."""
    config = trace.model.config
    return config.layers * rows * (config.heads * rows + NUMBERS * (4 if config.pre_norm else 3))


def _most(maps: Values, rows: range) -> NDArray[np.int64]:
    """The row of the token at which each row looks most; -1 if that token is not drawn."""
    best = maps[:, :, rows.start : rows.stop].argmax(-1)
    return np.where((best >= rows.start) & (best < rows.stop), best - rows.start, -1)


def _strips(trace: Trace, layers: Sequence[LayerTrace], rows: range) -> Mapping[str, Values]:
    """The numbers of each token between the vectors, by the part's id."""

    def of(vectors: Sequence[Tensor]) -> Values:
        return np.stack([_array(each[rows.start : rows.stop, :NUMBERS]) for each in vectors])

    neurons = np.stack([_changeable(_array(each.ffn_activation), rows) for each in layers])
    if not trace.model.config.pre_norm:
        return {"add_1": of([_known(each.attention_norm) for each in layers]), "neurons": neurons}
    return {
        "norm_1": of([each.input if each.input_norm is None else each.input_norm for each in layers]),
        "add_1": of([each.attention_residual for each in layers]),
        "norm_2": of([_known(each.ffn_input_norm) for each in layers]),
        "neurons": neurons,
    }


def _known(tensor: Tensor | None) -> Tensor:
    assert tensor is not None, "each family has this LayerNorm either before or after its sublayer"
    return tensor


def _changeable(activations: Values, rows: range) -> Values:
    """The neurons that differ most between the tokens of the text, in the order of their numbers."""
    most = np.sort(np.argsort(-activations.var(0), kind="stable")[:NUMBERS])
    return activations[rows.start : rows.stop, most]


def _opened(layer: LayerTrace, head: int, rows: range) -> OpenHead:
    def of(tensor: Tensor) -> Values:
        return _array(tensor[head, rows.start : rows.stop])

    attention = of(layer.attention)[:, rows.start : rows.stop]
    return OpenHead(layer.index, head, of(layer.query), of(layer.key), attention, of(layer.value), of(layer.context))


def _parts(trace: Trace) -> tuple[Part, ...]:
    """The parts in their order; LayerNorm comes after a sum, or before what reads the vectors."""
    config, n = trace.model.config, len(trace)
    width, pre = f"{n} × {config.width:,}", config.pre_norm
    norms = [
        Part(id, "LayerNorm", width, f"LayerNorm brings every vector to the same scale before the {readers} read it.")
        for id, readers in (("norm_1", "heads"), ("norm_2", "neurons"))
        if pre
    ]
    added, scaled = ("⊕", "") if pre else ("⊕ LayerNorm", " Then LayerNorm brings every vector to the same scale.")
    return (
        Part("tokens", "Tokens", f"{n} ids", "The text is cut into pieces that the model knows. Each piece has an id."),
        Part("vectors", "Vectors", width, _begins(trace)),
        *norms[:1],
        Part("attention", "Attention", f"{config.heads} × {n} × {n}", _looks(trace)),
        Part(
            "add_1", added, width, f"The results of the heads are joined and added to each token’s vector (⊕).{scaled}"
        ),
        *norms[1:],
        Part("neurons", "Feed-forward", f"{n} × {config.ffn_width:,}", _works(trace)),
        Part("add_2", added, width, f"The network’s result is added to each token’s vector, too (⊕).{scaled}"),
        Part("word", "Word", f"{config.vocabulary:,} probabilities", _reads(trace)),
    )


def _looks(trace: Trace) -> str:
    config = trace.model.config
    sees = " A token sees only itself and earlier tokens." if config.causal else ""
    return (
        f"{_count(config.heads, 'head looks', 'heads look')} at once. Each small map belongs to a head. A "
        f"row is a token that looks, and a strong colour marks a token that it looks at.{sees} Click a map to open it."
    )


def _works(trace: Trace) -> str:
    count = trace.model.config.ffn_width
    shown = f" You see the {NUMBERS} neurons whose numbers vary most from token to token." * (count > NUMBERS)
    return f"{count:,} neurons work on each token alone.{shown}"


def _count(count: int, one: str, many: str) -> str:
    return f"{in_words(count).capitalize()} {one if count == 1 else many}"


def _begins(trace: Trace) -> str:
    """Say where the first vectors come from, and which vectors a later layer has."""
    weights = trace.model.weights.embeddings
    tables = ["its place"] * (weights.position is not None) + ["its segment"] * (weights.segment is not None)
    added = (
        f", and a row for {' and a row for '.join(tables)} {'is' if len(tables) == 1 else 'are'} added"
        if tables
        else ""
    )
    return f"Each id picks a row of a learned table{added}. From layer 2 on, the vectors come from the layer before."


def _reads(trace: Trace) -> str:
    config = trace.model.config
    if trace.model.headless:
        return trace.model.headless
    token = "a token" if config.causal else "a blank"
    final = "brought to one scale and " * config.pre_norm
    asks = ". Which one comes next?" if config.causal else ". Which one fits?"
    return (
        f"The last vector of {token} is {final}compared with all {config.vocabulary:,} words and pieces of "
        f"the vocabulary{asks}"
    )


def _words(trace: Trace, watched: int) -> list[tuple[str, float]]:
    model = trace.model
    if model.headless or not (model.config.causal or is_hidden(trace, watched)):
        return []
    found = candidates(prediction_at(trace, watched, None), MOST, trace.model.tokenizer)
    return [(bare(each.word), each.probability) for each in found]


def _unread(trace: Trace) -> str:
    """Why a token that is no blank has no words; "" if each token has."""
    if trace.model.headless:
        return trace.model.headless
    return "" if trace.model.config.causal else "The model can read this token. Hide it, and the model guesses it."


def _ending(trace: Trace, watched: int) -> Spans:
    """Say what comes out at the watched token."""
    words, config = _words(trace, watched), trace.model.config
    if not words:
        return ((_unread(trace), PLAIN),)
    (best, probability), layers = words[0], _count(config.layers, "layer", "layers").lower()
    no_leader = "no word leads, but " * (probability < LEADS)
    asked = f"is most likely to follow “{bare(trace.labels[watched])}”" if config.causal else "fits the blank best"
    return (f"After {layers} {no_leader}", PLAIN), *said(best, probability), (f" {asked}.", PLAIN)
