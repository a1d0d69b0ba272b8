"""What the tokenization lesson asks before it shows: computed from how the learner's own text is cut."""

from __future__ import annotations

from tokenizers import Tokenizer, models

from lab.course.checks import Option, Question
from lab.course.words import quoted
from lab.lessons.tokenization.reading import (
    COUNTABLE,
    Reading,
    askable,
    count,
    hardest,
    joined,
    not_whole,
    question,
    spelled,
)
from lab.lessons.tokenization.splits import starts
from lab.text.tokenizers.bpe import BpeWord
from lab.text.tokenizers.bpe_rules import read_rules
from lab.text.tokenizers.wordpiece import WordSteps


def token_count(reading: Reading) -> Question | None:
    """How many tokens will the model read? The wrong options count something else in the same text."""
    encoding, words = reading.encoding, reading.words
    if encoding.cut or not words or len(encoding) > COUNTABLE:
        return None
    spaced = sum(len(steps.text.split()) for steps in reading.texts)
    pieces = sum(len(word.pieces) for word in words)
    added = sum(encoding.special)
    letters = sum(len(steps.text) for steps in reading.texts)
    wrong = {
        spaced: f"{spaced} is the number of words between spaces.",
        len(words): f"{len(words)} is the number of pre-tokens: words and punctuation marks, none of them split.",
        pieces: f"{count(pieces, 'token')} from the text; the model adds {added}.",
        len(words) + added: f"{len(words) + added} would be right if no word were split.",
        letters: f"{letters} is the number of characters.",
    }
    why = f"{count(pieces, 'token')} from the text, {added or 'none'} added by the model."
    right = Option(str(len(encoding)), why, correct=True)
    rest = [Option(str(number), reason) for number, reason in wrong.items()]
    return question("count", "How many tokens will the model read?", [right, *rest])


def piece_count(reading: Reading) -> Question | None:
    """Into how many pieces is the hardest word split? For texts too long to count."""
    words = [word for word in reading.words if askable(word)]
    at = hardest(words)
    if at is None:
        return None
    word = words[at]
    letters, units = len(spelled(word)), "bytes" if isinstance(word, BpeWord) else "characters"
    made = f"{quoted(spelled(word))} becomes {joined(word.pieces)}."
    rivals = [
        Option(str(len(cut)), f"{made} {len(cut)} would be right {condition}.")
        for cut, condition in reading.rivals(word)
    ]
    return question(
        "count",
        f"Into how many pieces does the model split {quoted(spelled(word))}?",
        [
            Option(str(len(word.pieces)), made, correct=True),
            Option("1", f"{made} {not_whole(word)}"),
            *rivals,
            Option(str(letters), f"{made} {letters} is the number of its {units}."),
        ],
    )


def first_piece(model: models.WordPiece, word: WordSteps) -> Question | None:
    """Where does the first piece end? The wrong options are shorter entries, and the whole word."""
    if not askable(word) or word.unknown or len(word.text) < 2:
        return None
    found = word.matches[0]
    tried = len(word.text) - found.end + 1
    name = quoted(found.candidate)
    place = "found at once" if tried == 1 else f"found by lookup {tried}"
    why = f"It is the longest start of the word in the vocabulary, {place}."
    options = [Option(name, why, correct=True)]
    if tried > 1:
        options.append(Option(quoted(word.text), not_whole(word)))
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
