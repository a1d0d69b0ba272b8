"""What the tokenization lesson asks about its toy: computed from the merges that were learned from made-up words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lab.lessons.tokenization.reading import count, question
from lab.questions.kinds import how_many, ranked
from lab.questions.question import Option, Question
from lab.toy.merges import BPE, MERGES, WORDPIECE, Corpus, Learned, MergeCandidate, Pieces, candidates

_ASKED_AFTER = range(1, 7)  # merges: later states hold too few letters to count


def written(pieces: Sequence[str]) -> str:
    """Pieces in a row, as Markdown; for letters of made-up words only."""
    return " ".join(f"`{piece}`" for piece in pieces)


def listed(state: Mapping[Pieces, int]) -> str:
    """A corpus in one line."""
    return ", ".join(f"{written(pieces)} × {times}" for pieces, times in state.items())


def next_pair(id: str, prompt: str, learned: Learned, made: int) -> Question | None:
    """Which two neighbours are merged next? The wrong options are the runners-up."""
    found = learned.next(made)
    values = [each.worth(learned.trainer) for each in found]
    if learned.trainer == WORDPIECE:
        values = [value / values[0] for value in values]  # scores are small; a twentieth of the best is a clear lead

    def why(index: int, best: int) -> str:
        return about(found[index], learned.trainer)

    return ranked(id, prompt, values, lambda index: written(found[index].pair), why)


def about(pair: MergeCandidate, trainer: str) -> str:
    """What decides on a pair, with its numbers."""
    if trainer == BPE:
        return f"{written(pair.pair)} stand side by side {count(pair.count, 'time')}."
    return f"Its score is {pair.count} / ({pair.left} · {pair.right}) = {pair.score:.3f}."


def all_checks(corpus: Corpus, learned: Learned) -> list[Question | None]:
    """The questions that these words decide."""
    return [_next(learned), _size(learned), _unseen(corpus, learned), _other_trainer(learned)]


def _next(learned: Learned) -> Question | None:
    rule = "stands side by side most often" if learned.trainer == BPE else "has the best WordPiece score"
    asked = (
        next_pair(
            "toy-next-pair",
            f"After {count(made, 'merge')} the corpus is {listed(learned.states[made])}. Which pair {rule}, and is "
            "merged next?",
            learned,
            made,
        )
        for made in _ASKED_AFTER
    )
    return next(filter(None, asked), None)


def _size(learned: Learned) -> Question | None:
    letters, size = len(learned.letters), len(learned.vocabulary(MERGES))
    if size != 1 + letters + MERGES:
        return None  # two merges made the same token
    why = f"1 + {letters} + {MERGES}: every merge adds one token, and the letters stay."
    wrong = {
        MERGES: "That is what the merges added. The letters are tokens, too.",
        letters + 1: "So many there were before the first merge.",
        size - 2 * MERGES: "A merge removes nothing: both parts stay in the vocabulary.",
        1 + letters + 2 * MERGES: "A merge adds one token, the two parts together.",
    }
    prompt = (
        f"The vocabulary begins with [UNK] and the {letters} letters of the corpus. How many tokens has it after "
        f"{MERGES} merges?"
    )
    return how_many("toy-size", prompt, (size, why), {number: text for number, text in wrong.items() if number > 0})


def _unseen(corpus: Corpus, learned: Learned) -> Question | None:
    """How is a word cut that the corpus does not have? The wrong options are what fewer merges make of it."""
    tokens = written(["".join(pair) for pair in learned.merges])
    for word in corpus.unseen:
        right = learned.tokenizer(MERGES).encode(word).tokens
        options = [Option(written(right), "These are the tokens that the library makes.", correct=True)]
        for made in reversed(range(MERGES)):
            pieces = learned.tokenizer(made).encode(word).tokens
            options.append(Option(written(pieces), f"So it is cut after {count(made, 'merge')} only."))
        options.insert(2, Option(written([word]), "The corpus does not have this word, so no merge has made it whole."))
        asked = question(
            "toy-unseen",
            f"These tokens were learned, in this order: {tokens}. How is {written([word])} cut, which the corpus does "
            "not have?",
            options,
        )
        if asked is not None and len(asked.options) > 2 and len(right) > 1:
            return asked
    return None


def _other_trainer(learned: Learned) -> Question | None:
    """Which of the most frequent pairs has WordPiece's best score? By hand, from three counts each."""
    pairs = candidates(learned.states[0], BPE, learned.vocabulary(0))[:3]
    numbers = "; ".join(
        f"{written(each.pair)} {each.count} times, {written(each.pair[:1])} {each.left}, {written(each.pair[1:])} "
        f"{each.right}"
        for each in pairs
    )
    best = max(each.score for each in pairs)
    return ranked(
        "toy-score",
        f"In letters, the corpus has {numbers}. Of these three pairs, which has the best WordPiece score, "
        "count(pair) / (count(first) · count(second))?",
        [each.score / best for each in pairs],
        lambda index: written(pairs[index].pair),
        lambda index, _: about(pairs[index], WORDPIECE),
    )
