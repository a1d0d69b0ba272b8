"""Sums of words: the question, the figure, and its meaning."""

from __future__ import annotations

from lab.analysis.words.neighbours import vocabulary_words
from lab.analysis.words.vector_sums import ids_of, score, word_sum
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.course.words import quoted, signed
from lab.models.encoding import word_of
from lab.models.loading import LoadedModel
from lab.models.trace import Trace

NEAREST = 8
# The words a, b, c of a − b + c, and the expected word: families, verbs and adjectives, numbers, countries, four each.
QUESTIONS = (
    ("king", "man", "woman", "queen"),
    ("brother", "man", "woman", "sister"),
    ("uncle", "man", "woman", "aunt"),
    ("boy", "man", "woman", "girl"),
    ("walked", "walk", "play", "played"),
    ("went", "go", "come", "came"),
    ("was", "is", "are", "were"),
    ("better", "good", "bad", "worse"),
    ("cars", "car", "dog", "dogs"),
    ("years", "year", "day", "days"),
    ("men", "man", "woman", "women"),
    ("houses", "house", "street", "streets"),
    ("Paris", "France", "Germany", "Berlin"),
    ("London", "England", "France", "Paris"),
    ("Rome", "Italy", "Russia", "Moscow"),
    ("Chinese", "China", "France", "French"),
)


def missing(model: LoadedModel, words: tuple[str, ...]) -> list[str]:
    """The ``words`` that are not a whole word of the vocabulary."""
    return [word for word, found in zip(words, ids_of(model, words), strict=True) if found is None]


def near_sum(traced: Trace, first: str, second: str, third: str, expected: str = "") -> Figure:
    """Draw the words nearest to first − second + third; the words of the sum are marked. Dashed: the mean of all words.

    If the word ``expected`` is not among the nearest words, it is the last bar, after "…".
    Raises ValueError if a word is not in the vocabulary.
    """
    found = word_sum(traced.model, *_ids(traced.model, (first, second, third)))
    shown = found.nearest(NEAREST)
    if expected:
        shown = (*shown, *({found.ids.index(*_ids(traced.model, (expected,)))} - set(shown)))
    names = [
        ("• " if found.ids[at] in found.summands else "") + word_of(traced.model.tokenizer, found.ids[at])
        for at in shown[:NEAREST]
    ] + [f"… {expected}"] * len(shown[NEAREST:])
    values, mean = found.cosines[list(shown)], float(found.cosines.mean())
    scale = Scale("Cosine", (min(0.0, mean, float(values.min())), 1.0), ".2f")
    return bars(names, values, scale, title=f"Words nearest to {first} − {second} + {third}", reference=mean)


def meaning(model: LoadedModel, words: tuple[str, ...]) -> str:
    """Say which word is nearest to the sum of three words, with and without them, and the rank of the fourth."""
    ids = _ids(model, words)
    found = word_sum(model, *ids[:3])

    def told(at: int) -> str:
        return f"{quoted(word_of(model.tokenizer, found.ids[at]))} (cosine {signed(found.cosines[at])})"

    best, others = found.nearest(1)[0], found.nearest(1, without=True)
    own = ", a word of the sum itself" if found.ids[best] in found.summands else ""
    said = f"Of {len(found.ids):,} words, the nearest to the sum is {told(best)}{own}."
    if own and others:
        said += f" Without the words of the sum, the nearest word is {told(others[0])}."
    if len(ids) < 4 or ids[3] in found.summands:
        return said
    rank = found.rank(ids[3])
    alone = {words[0]: found.rank(ids[3], found.first), words[2]: found.rank(ids[3], found.third)}
    word, least = min(alone.items(), key=lambda each: each[1])
    verdict = "the sum comes nearer" if rank < least else "the sum comes no nearer than one word alone"
    return (
        f"{said} Among the other words, {quoted(words[3])} is number {rank:,}. Among the words nearest to "
        f"{quoted(word)} alone, it is number {least:,}, so here {verdict}."
    )


def in_general(model: LoadedModel) -> str | None:
    """The results of a model over :data:`QUESTIONS`; None if the model knows all words of no question."""
    found = score(model, QUESTIONS)
    if not found.asked:
        return None
    return (
        f"**Is this true in general?** The lab has {len(QUESTIONS)} such sums. For {found.asked} of them, "
        f"{quoted(model.id)} has all words in its vocabulary. The expected word is the nearest in {found.whole} of "
        f"them. If the words of the sum do not count, it is the nearest in {found.without}. But even without a sum, it "
        f"is the nearest to the first word or to the third in {found.alone}. (A guess is right once in "
        f"{len(vocabulary_words(model)):,} cases.)"
    )


def _ids(model: LoadedModel, words: tuple[str, ...]) -> tuple[int, ...]:
    found = tuple(each for each in ids_of(model, words) if each is not None)
    if len(found) < len(words):
        raise ValueError(f"The vocabulary of {model.id} has no whole word for {', '.join(missing(model, words))}.")
    return found
