"""Predictions and checks about likelihoods, the lens, sampling and pairs, computed from the learner's own text."""

from __future__ import annotations

from collections.abc import Sequence

from lab.analysis.words.likelihood import Likelihood
from lab.analysis.words.next_sentence import NextSentence
from lab.analysis.words.sampling import Sampling
from lab.course.words import share, signed
from lab.questions.kinds import Quantity, numeric, ranked, rises_or_falls, which_holds
from lab.questions.question import MARGIN, Option, Question

# A probability nearer than this to the border of a band, or of top-p, decides nothing that a reader could see.
_BLUR = 0.01
_BANDS = ((0.0, 0.25, "Below 0.25"), (0.25, 0.75, "Between 0.25 and 0.75"), (0.75, 1.0, "Above 0.75"))
_LISTED = 6  # probabilities that a question writes out


def most_surprising(found: Likelihood, names: Sequence[str]) -> Question | None:
    """Which of the scored tokens gets the smallest probability? ``names`` words them, in the order of the scores."""
    surprisal = [-score.log_probability for score in found.scores]

    def why(at: int, best: int) -> str:
        score = found.scores[at]
        tail = ", the smallest of all." if at == best else f"; the smallest is {signed(-surprisal[best])}."
        return f"ln P = {signed(score.log_probability)}, rank {score.rank:,}{tail}"

    prompt = "Which of these tokens surprises the model most: which gets the smallest probability?"
    return ranked("most-surprising", prompt, surprisal, lambda at: names[at], why)


def kept_tokens(found: Sampling, vocabulary: int, noun: str) -> Question | None:
    """How many words can still be drawn after top-k and top-p?"""
    by_k, kept = int(found.by_top_k.sum()), len(found.kept)
    wrong = {
        float(by_k): f"So many pass top-k, but the first {kept:,} of them reach top-p already.",
        float(vocabulary): "That is the whole vocabulary, before anything is removed.",
        1.0: "Only if top-k is 1, or one probability alone reaches top-p.",
        float(max(1, kept // 2)): f"They hold {share(_mass(found, kept // 2))} of what top-k keeps: not enough.",
        float(kept * 2): "The first half of them reaches top-p already.",
    }
    why = f"{by_k:,} pass top-k; the first {kept:,} of those reach top-p."
    prompt = f"With these settings, how many of the {vocabulary:,} {noun} can still be drawn?"
    return numeric("kept-tokens", prompt, (float(kept), why), wrong, Quantity("{:,.0f}".format, within=(1, vocabulary)))


def _mass(found: Sampling, count: int) -> float:
    """What the first ``count`` words hold of the mass that top-k keeps."""
    return float(found.probabilities[found.order[:count]].sum()) / found.mass_by_top_k


def follows_band(probability: float) -> Question | None:
    """Does the model think that B follows A? None too near a border of the three bands."""
    if any(abs(probability - low) < _BLUR for low, _, _ in _BANDS[1:]):
        return None
    why = f"P(B follows A) is {share(probability)}."
    options = tuple(Option(name, why, correct=low <= probability <= high) for low, high, name in _BANDS)
    return Question("follows-band", "What probability does the model give to “B follows A”?", options)


def swapped(found: NextSentence) -> Question | None:
    """What does swapping A and B do to the probability? None where the change is too near the border."""
    change = found.swapped - found.follows
    if abs(abs(change) - MARGIN) < _BLUR:
        return None
    told = f"It goes from {share(found.follows)} to {share(found.swapped)}."
    prompt = "Swap the two texts. What happens to the probability?"
    return which_holds("swapped", prompt, told, rises_or_falls(change))
