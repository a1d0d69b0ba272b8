"""The article's own pair in the model on screen: the strongest link between two of its words."""

from __future__ import annotations

import numpy as np

from lab.course.sentences.examples import EXAMPLES
from lab.course.words import escaped
from lab.models.trace import Trace

PAIR = next(each for each in EXAMPLES if each.name == "A pair of one form")
_NOUN, _VERB = "rabbit", "hopped"


def tied(trace: Trace) -> str | None:
    """State the largest weight between *rabbit* and *hopped*, over all layers and heads; None for any other text."""
    if (trace.text, trace.pair) != (PAIR.text, PAIR.pair):
        return None
    noun, verb = (_tokens(trace, word) for word in (_NOUN, _VERB))
    attention = trace.attention.numpy()
    ways = {
        (start, end): attention[:, :, rows][..., columns]
        for start, end, rows, columns in ((_VERB, _NOUN, verb, noun), (_NOUN, _VERB, noun, verb))
    }
    (start, end), weights = max(ways.items(), key=lambda way: float(way[1].max()))
    layer, head = (int(each) for each in np.unravel_index(int(weights.argmax()), weights.shape)[:2])
    return (
        f"In the article from which this pair comes, a head of BERT base ties *{_NOUN}* to *{_VERB}* (Vig 2019). In "
        f"{escaped(trace.model.id)}, the largest weight between the two words is **{weights.max():.2f}**: head "
        f"{head + 1} of layer {layer + 1}, from *{start}* to *{end}*."
    )


def _tokens(trace: Trace, word: str) -> list[int]:
    """Return the tokens of a word of the first text, from 0."""
    start = trace.text.index(word)
    spans = zip(trace.offsets, trace.encoding.in_pair, strict=True)
    return [
        i
        for i, ((first, last), second) in enumerate(spans)
        if not second and first < start + len(word) and start < last
    ]
