"""The lesson's sentences run again, otherwise: in another order, without positions, as a pair or as one text."""

from __future__ import annotations

from lab.analysis.sentences.attention import InterSentence
from lab.analysis.sentences.split import as_one, crossing, split
from lab.figures.sentences import read
from lab.models.changed import changed
from lab.models.interventions import Interventions
from lab.models.memo import once
from lab.models.trace import Trace
from lab.models.trace import trace as run


@once
def exchanged(trace: Trace, left_out: bool) -> InterSentence | None:
    """Sentences 1 and 2 in the other order. None for a pair, and where other sentences would come of it."""
    sentences = split(trace)
    if trace.pair is not None or sentences.left_out or sentences.cut or len(sentences) < 2:
        return None
    first, second, *rest = sentences.texts
    after = run(trace.model, " ".join((second, first, *rest)))
    found = split(after)
    return read(after, found, left_out) if found.texts == (second, first, *rest) else None


@once
def unplaced(trace: Trace, left_out: bool) -> InterSentence:
    """The same text in a model without positions."""
    return read(changed(trace, Interventions(no_positions=True)), split(trace), left_out)


@once
def first_to_second(trace: Trace, left_out: bool) -> tuple[float, float] | None:
    """The mean mass from the first text to the second, as one text and as a pair.

    Sentences of one text become a pair: the first one, and the others. None where other sentences would come of it.
    """
    sentences = split(trace)
    if trace.pair is None:
        joined, pair = trace, run(trace.model, sentences.texts[0], " ".join(sentences.texts[1:]))
    else:
        joined, pair = as_one(trace)[0], trace
    one, two = (sentences, split(pair)) if trace.pair is None else (as_one(trace)[1], sentences)
    if pair.encoding.cut or one.texts != two.texts or len(set(two.in_pair)) < 2:
        return None
    together, apart = (crossing(read(of, found, left_out), two.in_pair) for of, found in ((joined, one), (pair, two)))
    return float(together[0, 1]), float(apart[0, 1])
