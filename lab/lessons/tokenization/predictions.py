"""What the tokenization lesson asks before it shows: computed from how the learner's own text is cut."""

from __future__ import annotations

from tokenizers import Tokenizer, models

from lab.analysis.words.masking import unknown_of
from lab.course.words import quoted
from lab.lessons.tokenization.reading import (
    TextReading,
    askable,
    not_whole,
    question,
    spelled,
)
from lab.lessons.tokenization.splits import starts
from lab.questions.question import Option, Question
from lab.text.tokenizers.bpe import BpeWord
from lab.text.tokenizers.bpe_rules import read_rules
from lab.text.tokenizers.wordpiece import WordSteps

# Words that most vocabularies have as a whole, and words that few have.
_COMMON = ("house", "water", "small", "school", "friend", "night")
_RARE = ("quizzically", "unfathomable", "bamboozled", "gobbledygook", "hobnobbing", "crinkled")


# Sentences with a word that most models cut.
_CUT = {
    "quizzically": "She looked at him quizzically.",
    "unfathomable": "The sea was dark and unfathomable.",
    "gobbledygook": "The letter was gobbledygook to me.",
}


def cut_sentence(tokenizer: Tokenizer) -> tuple[str, str] | None:
    """A word that this tokenizer cuts, and a sentence with it; None where it cuts none of the lab's."""
    return next((each for each in _CUT.items() if len(pieces_of(tokenizer, each[0])) > 1), None)


def one_token(reading: TextReading) -> Question | None:
    """Which of four words is in the vocabulary as a whole? None of them stands in the text."""
    typed = " ".join(steps.text for steps in reading.texts).lower()
    cuts = {word: pieces_of(reading.tokenizer, word) for word in (*_COMMON, *_RARE) if word not in typed}
    whole = [word for word in _COMMON if len(cuts.get(word, ())) == 1]
    wrong = [word for word in _RARE if len(cuts.get(word, ())) > 1]
    if not whole or len(wrong) < 2:
        return None
    right = Option(quoted(whole[0]), f"It is one token, {quoted(cuts[whole[0]][0])}.", correct=True)
    rest = [Option(quoted(word), f"It is cut into {quoted(' · '.join(cuts[word]))}.") for word in wrong[:3]]
    prompt = "Of these words, one stands in the vocabulary as a whole. The others are cut. Which one stays whole?"
    return question("one-token", prompt, [right, *rest])


def pieces_of(tokenizer: Tokenizer, word: str) -> tuple[str, ...]:
    """The tokens of a word inside a text; empty where the vocabulary cannot build it."""
    found = tokenizer.encode(f" {word}", add_special_tokens=False)
    return () if unknown_of(tokenizer) in found.ids else tuple(found.tokens)


def first_piece(model: models.WordPiece, word: WordSteps) -> Question | None:
    """Where does the first piece end? The wrong options are shorter entries, and the whole word.

    Not asked of a word that stays whole: the chips of the first step have shown that.
    """
    if not askable(word) or word.unknown or len(word.pieces) < 2:
        return None
    found = word.matches[0]
    tried = len(word.text) - found.end + 1
    name = quoted(found.candidate)
    why = f"It is the longest start of the word in the vocabulary, found by lookup {tried}."
    options = [Option(name, why, correct=True), Option(quoted(word.text), not_whole(word))]
    for start in starts(model, word.text[: found.end - 1])[:2]:
        why = f"It is in the vocabulary too, but {name} is longer and is looked up before it."
        options.append(Option(quoted(start), why))
    return question("first-piece", f"Which is the first piece of {quoted(word.text)}?", options)


def first_merge(tokenizer: Tokenizer, word: BpeWord) -> Question | None:
    """Which two neighbours are merged first? The wrong options are other neighbours of the word."""
    if not askable(word) or not word.merges:
        return None
    ranks = read_rules(tokenizer).ranks
    first = word.merges[0]
    pairs = list(dict.fromkeys(zip(word.symbols, word.symbols[1:], strict=False)))
    known = sorted((pair for pair in pairs if pair in ranks), key=lambda pair: ranks[pair])
    unknown = [pair for pair in pairs if pair not in ranks]
    why = f"Its rank is {first.rank}: of all neighbours in the word, this pair was learned first."
    options = [Option(_plus(first.left, first.right), why, correct=True)]
    for pair in known[1:3]:
        options.append(Option(_plus(*pair), f"Its rank is {ranks[pair]}; the pair of rank {first.rank} goes first."))
    for pair in unknown[:1]:
        options.append(Option(_plus(*pair), "This pair is not in the list of merges."))
    return question("first-merge", f"Which two neighbours in {quoted(spelled(word))} are merged first?", options)


def _plus(left: str, right: str) -> str:
    return f"{quoted(left)} + {quoted(right)}"
