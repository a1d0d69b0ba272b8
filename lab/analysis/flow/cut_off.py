"""The best words of a run with one word after the other cut off from all tokens."""

from __future__ import annotations

from dataclasses import dataclass

from lab.analysis.flow.cuts import Cuts, Way, cut_run
from lab.analysis.heads.swapping import Asked
from lab.analysis.words.masking import asked_run, whole_words
from lab.analysis.words.predictions import Candidate, candidates, prediction_at
from lab.models.trace import Trace

MOST = 10  # the most words that are cut off


TOP = 4


@dataclass(frozen=True)
class CutOff:
    """The words of a run in which one token (from 0) is cut off, or the plain run (None), and what has become of the
    plain run's best word: its probability ``kept``."""

    token: int | None
    best: tuple[Candidate, ...]
    kept: float


def asked_of(trace: Trace) -> Asked | None:
    """Return the run whose blank the model fills, by default with the last word hidden; None without such a place."""
    found = None if trace.model.no_words else asked_run(trace)
    return None if found is None else Asked(*found)


def cut_off(asked: Asked) -> list[CutOff]:
    """Run a text as it is, and then with each of its first words cut off from all other tokens."""
    run, place = asked.run, asked.place
    plain = prediction_at(run, place, None)
    best = int(plain.logits.argmax())
    words = [each for each in whole_words(run.encoding, range(len(run))) if each != place and run.labels[each].strip()]
    if run.model.config.causal:
        words = [each for each in words if 0 < each < place]
    rows = []
    for token in (None, *words[:MOST]):
        after = run if token is None else cut_run(run, place, Cuts(((token, Way.BOTH),)))
        found = prediction_at(after, place, None)
        rows.append(CutOff(token, candidates(found, TOP, run.model.tokenizer), float(found.probabilities[best])))
    return rows
