"""Questions about the toy of the tokenization lesson, computed from the merges of made-up words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lab.lessons.tokenization.view import count, question
from lab.questions.question import Option, Question, ranked
from lab.toy.merges import BPE, MERGES, WORDPIECE, Corpus, Learned, MergeCandidate, Pieces

_ASKED_AFTER = range(1, 7)  # number of merges; after more merges, too few letters are left to count


def written(pieces: Sequence[str]) -> str:
    """Write pieces in a row, as Markdown, which is safe only for the letters of made-up words."""
    return " ".join(f"`{piece}`" for piece in pieces)


def listed(state: Mapping[Pieces, int]) -> str:
    """Write a corpus in one line."""
    return ", ".join(f"{written(pieces)} × {times}" for pieces, times in state.items())


_PAIRS = "Count each pair of neighbours in the whole corpus. If a word occurs five times, its pairs count five times."


def next_pair(id: str, prompt: str, learned: Learned, made: int) -> Question | None:
    """Ask which two neighbours are merged next; the wrong options are the runners-up."""
    found = learned.next(made)
    values = [each.worth(learned.trainer) for each in found]
    if learned.trainer == WORDPIECE:
        values = [value / values[0] for value in values]  # scores are small; a twentieth of the best is a clear lead

    def why(index: int, best: int) -> str:
        return about(found[index], learned.trainer)

    asked = ranked(id, prompt, values, lambda index: written(found[index].pair), why)
    return None if asked is None else replace(asked, hint=_PAIRS)


def about(pair: MergeCandidate, trainer: str) -> str:
    """Say, with its numbers, why a pair is merged or not."""
    if trainer == BPE:
        return f"{written(pair.pair)} are neighbours {count(pair.count, 'time')}."
    return f"Its score is {pair.count} / ({pair.left} · {pair.right}) = {pair.score:.3f}."


def all_checks(corpus: Corpus, learned: Learned) -> list[Question | None]:
    """The questions to which these words give a clear answer."""
    return [_next(learned), _unseen(corpus, learned), _parts_stay(learned)]


def _next(learned: Learned) -> Question | None:
    rule = "occurs most often" if learned.trainer == BPE else "has the best WordPiece score"
    asked = (
        next_pair(
            "toy-next-pair",
            f"After {count(made, 'merge')} the corpus is {listed(learned.states[made])}. Which pair {rule}, so that "
            "it is merged next?",
            learned,
            made,
        )
        for made in _ASKED_AFTER
    )
    return next(filter(None, asked), None)


def _parts_stay(learned: Learned) -> Question | None:
    """Ask whether a merge removes the two tokens that it joins: not from the vocabulary, as other words need them."""
    made = learned.merges[0]
    joined, parts = written(["".join(made)]), " and ".join(map(written, zip(made, strict=True)))
    why = "A merge adds one token and removes none, even if no word of this corpus needs one of the parts any more."
    return question(
        "toy-parts",
        f"The first merge makes {joined} from {parts}. What happens to {parts} in the vocabulary?",
        [
            Option("They stay: the vocabulary has one token more", why, correct=True),
            Option("They are removed: the vocabulary has one token less", why),
            Option("They are replaced: the vocabulary keeps its size", why),
        ],
        "Is there a word in the corpus that has only one of the two parts?",
    )


def _unseen(corpus: Corpus, learned: Learned) -> Question | None:
    """Ask how a word is cut that is not in the corpus; the wrong options are the pieces after fewer merges."""
    tokens = written(["".join(pair) for pair in learned.merges])
    for word in corpus.unseen:
        right = learned.tokenizer(MERGES).encode(word).tokens
        options = [Option(written(right), "These are the tokens that the library makes.", correct=True)]
        for made in reversed(range(MERGES)):
            pieces = learned.tokenizer(made).encode(word).tokens
            options.append(Option(written(pieces), f"This would be right after only {count(made, 'merge')}."))
        options.insert(
            2, Option(written([word]), "The corpus does not contain this word, so no merge has made it whole.")
        )
        asked = question(
            "toy-unseen",
            f"These tokens were learned, in this order: {tokens}. The corpus does not contain the word "
            f"{written([word])}. How is this word cut?",
            options,
            "Apply the merges in the order in which they were learned.",
        )
        if asked is not None and len(asked.options) > 2 and len(right) > 1:
            return asked
    return None
