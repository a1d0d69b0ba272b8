"""Predictions and checks about likelihoods, the lens, sampling and pairs, computed from the learner's own text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lab.analysis.words.likelihood import Likelihood
from lab.analysis.words.next_sentence import NextSentence
from lab.analysis.words.sampling import Sampling
from lab.course.words import quoted, share, signed
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


def perplexity(found: Likelihood) -> Question | None:
    """From the sum of the logarithms and the number of tokens to the perplexity."""
    n, total, name = len(found.scores), found.total, "pseudo-perplexity" if found.pseudo else "perplexity"
    wrong = {
        -found.mean: "This is the mean in nats, without its sign; the perplexity is e to that number.",
        _exp(-total): "e to the whole sum: the number of tokens was forgotten.",
        2**-found.mean: "2 to the mean: the logarithms here are natural ones.",
        -total: "This is the sum without its sign.",
        math.exp(found.mean): "This is one over it: the geometric mean of the probabilities.",
    }
    why = f"e^({-total:.2f} ÷ {n}) = e^{-found.mean:.3f} = {_short(found.perplexity)}."
    prompt = f"The logarithms of {n} probabilities, one a token, add up to {signed(total)} nats. What is the {name}?"
    return numeric("perplexity", prompt, (found.perplexity, why), wrong, Quantity(_short))


def _exp(power: float) -> float:
    return math.exp(power) if power < 700 else math.inf


def _short(value: float) -> str:
    return f"{value:,.0f}" if 1000 <= value < 1e9 else f"{value:.3g}"


def row_name(layer: int) -> str:
    """A row of the lens."""
    return f"Layer {layer}" if layer else "The embeddings"


def settled(best: Sequence[str], place: str) -> Question | None:
    """After which layer does the plain lens read what the output says, and no longer anything else?

    ``best`` is the most probable word of each row at ``place``, from the embeddings to the output.
    """
    last, final = len(best) - 1, best[-1]
    if last < 1:
        return None
    answer = next(row for row in range(last + 1) if all(word == final for word in best[row:]))
    nearest = sorted(range(last + 1), key=lambda row: (row != answer, row not in (0, last), abs(row - answer)))

    def why(row: int) -> str:
        if row == answer:
            return f"From there on every row reads {quoted(final)}."
        if row > answer:
            return f"It reads {quoted(final)}, but so does {row_name(answer).lower()} before it."
        if best[row] != final:
            return f"There the plain lens reads {quoted(best[row])}; the output is {quoted(final)}."
        other = next(later for later in range(row, last + 1) if best[later] != final)
        return f"It reads {quoted(final)}, but {row_name(other).lower()} reads {quoted(best[other])}."

    options = tuple(Option(row_name(row), why(row), correct=row == answer) for row in sorted(nearest[:4]))
    read = ", ".join(map(quoted, best))
    prompt = (
        f"At {place}, the plain lens reads after the embeddings, then after each layer: {read}. From which row on does "
        "every row read the word of the output?"
    )
    return Question("settled", prompt, options)


def least_certain(entropy: Sequence[float], names: Sequence[str]) -> Question | None:
    """At which token is the output least certain? ``entropy`` is a share of ln(vocabulary)."""

    def why(at: int, best: int) -> str:
        tail = ", the largest of these." if at == best else f"; the largest is {entropy[best]:.3f}."
        return f"Its entropy is {entropy[at]:.3f} of the largest possible{tail}"

    prompt = "At which of these tokens is the model’s own prediction least certain: where is its entropy largest?"
    return ranked("least-certain", prompt, entropy, lambda at: names[at], why)


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


def nucleus(found: Sampling, top_p: float) -> Question | None:
    """How many words does top-p keep of a distribution that starts with these probabilities? Top-k must keep all."""
    kept = len(found.kept)
    listed = [float(p) for p in found.probabilities[found.order[:_LISTED]]]
    sums = [math.fsum(listed[: i + 1]) for i in range(len(listed))]
    if not 2 <= kept < len(listed) or any(abs(total - top_p) < _BLUR for total in sums):
        return None

    def why(count: int) -> str:
        told = f"The first {count} add up to {sums[count - 1]:.3f}"
        if count == kept:
            return f"{told}, the first sum that reaches {top_p:g}."
        return f"{told}, which does not reach {top_p:g}." if count < kept else f"{told}, but {kept} reach it already."

    options = [Option(str(count), why(count), correct=count == kept) for count in range(1, len(listed) + 1)]
    offered = sorted(options, key=lambda option: abs(int(option.text) - kept))[:4]
    prompt = (
        f"The most probable next tokens have {', '.join(f'{p:.3f}' for p in listed)} … How many does top-p = "
        f"{top_p:g} keep, at temperature 1 and without top-k?"
    )
    return Question("nucleus", prompt, tuple(sorted(offered, key=lambda option: int(option.text))))


def follows_band(probability: float) -> Question | None:
    """Does the model think that B follows A? None too near a border of the three bands."""
    if any(abs(probability - low) < _BLUR for low, _, _ in _BANDS[1:]):
        return None
    why = f"P(B follows A) is {share(probability)}."
    options = tuple(Option(name, why, correct=low <= probability <= high) for low, high, name in _BANDS)
    return Question("follows-band", "What probability does the model give to “B follows A”?", options)


def pair_softmax(found: NextSentence) -> Question | None:
    """From two logits to the probability that B follows."""
    yes, no = found.logits
    wrong = {
        1 - found.follows: "This is the probability that B does not follow.",
        yes / (yes + no) if yes + no else math.inf: "This divides the logits; the softmax divides their exponentials.",
        1 / (1 + _exp(-yes)): "This leaves the second logit out.",
        0.5: "Only two equal logits share evenly.",
    }
    why = f"1 ÷ (1 + e^({no:.3f} − {yes:.3f})) = {share(found.follows)}."
    prompt = (
        f"The logit of “B follows A” is {yes:.3f}, that of “B does not” {no:.3f}. What probability does the softmax "
        "give to “B follows A”?"
    )
    return numeric("pair-softmax", prompt, (found.follows, why), wrong, Quantity(share, apart=MARGIN, within=(0, 1)))


def swapped(found: NextSentence) -> Question | None:
    """What does swapping A and B do to the probability? None where the change is too near the border."""
    change = found.swapped - found.follows
    if abs(abs(change) - MARGIN) < _BLUR:
        return None
    told = f"It goes from {share(found.follows)} to {share(found.swapped)}."
    prompt = "Swap the two texts. What happens to the probability?"
    return which_holds("swapped", prompt, told, rises_or_falls(change))
