"""Predictions of the tokenization lesson, computed from the pieces of the learner's own text."""

from __future__ import annotations

from lab.course.words import quoted
from lab.lessons.tokenization.reading import Mistyped, Word, askable, joined, question, spelled
from lab.questions.question import Option, Question
from lab.text.tokenizers.wordpiece import WordSteps


def not_in_the_vocabulary(word: Word, typo: Mistyped | None) -> Question | None:
    """Ask what the model reads in place of a word that is not in its vocabulary; None for a word that is."""
    lost = isinstance(word, WordSteps) and bool(word.unknown)
    if not askable(word) or (len(word.pieces) < 2 and not lost):
        return None
    name, read = quoted(spelled(word).strip("Ġ ")), joined(word.pieces)
    asked, nearest = f"{name} is not in the vocabulary.", "The nearest word that the vocabulary has"
    if typo is not None and typo.wrong == word:
        asked = f"Mistype {quoted(typo.word)} as {name}, and it is no longer in the vocabulary."
        nearest = f"{quoted(typo.word)}: the mistake is corrected"
    told = f"The model reads {read}."
    return question(
        "not-in-the-vocabulary",
        f"{asked} What does the model read?",
        [
            Option("Pieces of it that are in the vocabulary", told, correct=not lost),
            Option(nearest, f"{told} A tokenizer looks spellings up. It does not guess what you meant."),
            Option("Nothing: the word is left out", f"{told} No word is left out."),
            Option("A sign for an unknown word", told, correct=lost),
        ],
    )
