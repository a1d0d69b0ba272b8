"""Predictions and checks about likelihoods, the lens, sampling and pairs, computed from the learner's own text."""

from __future__ import annotations

from collections.abc import Sequence

from lab.analysis.words.likelihood import Likelihood
from lab.course.words import share, signed
from lab.questions.kinds import ranked
from lab.questions.question import Option, Question

# If a probability is nearer than this to the border of a band, or of top-p, a reader could not see its side.
_BLUR = 0.01
_BANDS = ((0.0, 0.25, "Below 0.25"), (0.25, 0.75, "Between 0.25 and 0.75"), (0.75, 1.0, "Above 0.75"))
_LISTED = 6  # number of probabilities that a question writes out


def most_surprising(found: Likelihood, names: Sequence[str]) -> Question | None:
    """Ask which of the scored tokens gets the smallest probability; ``names`` has their names, in the same order."""
    surprisal = [-score.log_probability for score in found.scores]

    def why(at: int, best: int) -> str:
        score = found.scores[at]
        tail = ", the smallest of all." if at == best else f"; the smallest is {signed(-surprisal[best])}."
        return f"ln P = {signed(score.log_probability)}, rank {score.rank:,}{tail}"

    prompt = "Which of these tokens surprises the model most, so that it gets the smallest probability?"
    return ranked("most-surprising", prompt, surprisal, lambda at: names[at], why)


def follows_band(probability: float) -> Question | None:
    """Ask whether the model thinks that B follows A; None if the probability is near a border of the three bands."""
    if any(abs(probability - low) < _BLUR for low, _, _ in _BANDS[1:]):
        return None
    why = f"P(B follows A) is {share(probability)}."
    options = tuple(Option(name, why, correct=low <= probability <= high) for low, high, name in _BANDS)
    return Question("follows-band", "What probability does the model give to “B follows A”?", options)
