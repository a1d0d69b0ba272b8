"""The lesson's sentences, run again in other ways: in another order, without positions, as a pair."""

from __future__ import annotations

from lab.analysis.sentences.attention import InterSentence
from lab.analysis.sentences.split import split
from lab.figures.sentences import read
from lab.models.interventions import Interventions
from lab.models.memo import once
from lab.models.trace import Trace, changed
from lab.models.trace import trace as run


@once
def exchanged(trace: Trace, left_out: bool) -> InterSentence | None:
    """The text with sentences 1 and 2 swapped.

    None for a pair, or if the new text would be split into other sentences.
    """
    sentences = split(trace)
    if trace.pair is not None or sentences.left_out or sentences.cut or len(sentences) < 2:
        return None
    first, second, *rest = sentences.texts
    after = run(trace.model, " ".join((second, first, *rest)))
    found = split(after)
    return read(after, found, left_out) if found.texts == (second, first, *rest) else None


@once
def unplaced(trace: Trace, left_out: bool) -> InterSentence:
    """Attention between the sentences of a text in a model without positions."""
    return read(changed(trace, Interventions(no_positions=True)), split(trace), left_out)


@once
def first_and_rest(trace: Trace) -> Trace | None:
    """A pair made from one text: the first sentence is the first text, and the other sentences are the second.

    None if the pair would be split into other sentences.
    """
    sentences = split(trace)
    if sentences.left_out or sentences.cut or len(sentences) < 2:
        return None
    pair = run(trace.model, sentences.texts[0], " ".join(sentences.texts[1:]))
    return None if pair.encoding.cut or split(pair).texts != sentences.texts else pair
