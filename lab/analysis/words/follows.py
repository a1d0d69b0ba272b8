"""Does the second text follow the first? BERT's second training task (Devlin et al. 2019, §3.1, task 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.analysis.words.predictions import follows
from lab.models.memo import once
from lab.models.trace import Trace, trace

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel


@dataclass(frozen=True)
class NextSentence:
    """The probability that the second text follows the first, for a pair in its order and with its texts swapped."""

    follows: float
    swapped: float


def why_not(run: Trace) -> str | None:
    """The reason why ``run`` has no next-sentence probability, for the learner; None if it has one."""
    if not run.model.pairs:
        return f"{run.model.id} came without a next-sentence head."
    if run.pair is None:
        return "There is no second sentence: next-sentence prediction compares two."
    return None


@once
def next_sentence(run: Trace) -> NextSentence | None:
    """Return the probabilities for both orders of a pair, from the pooled [CLS]; None if :func:`why_not` has a reason.

    Runs the model once more. Raises ValueError for a run with interventions, because interventions at
    tokens would apply to other tokens in the swapped text.
    """
    if why_not(run) is not None or run.pair is None:
        return None
    if not run.interventions.changes_nothing:
        raise ValueError("next_sentence compares plain runs; this one carries interventions.")
    other = trace(run.model, run.pair, run.text)
    return NextSentence(follows(run), follows(other))


@dataclass(frozen=True)
class PairsTried:
    """P(second follows first) for some pairs: as they are, swapped, and with the second text of the next pair."""

    follows: tuple[float, ...]
    swapped: tuple[float, ...]
    mixed: tuple[float, ...]


@once
def try_pairs(model: LoadedModel, pairs: tuple[tuple[str, str], ...]) -> PairsTried:
    """Run ``model``, which must have a next-sentence head, on each of ``pairs`` in three ways: see PairsTried."""
    seconds = [second for _, second in pairs]
    others = zip((first for first, _ in pairs), [*seconds[1:], seconds[0]], strict=True)
    swapped = ((second, first) for first, second in pairs)
    return PairsTried(*(tuple(follows(trace(model, *each)) for each in way) for way in (pairs, swapped, others)))
