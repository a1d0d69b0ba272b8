"""Checks at the end of the tokenization lesson, computed from how the learner's own text was cut."""

from __future__ import annotations

from tokenizers.models import Model

from lab.analysis.words.masking import unknown_of
from lab.course.words import quoted
from lab.lessons.tokenization.reading import TextReading, Word, askable, question, spelled
from lab.questions.question import Option, Question
from lab.text.tokenizers.bpe import BpeWord
from lab.text.tokenizers.wordpiece import WordSteps

_JOINER = "\u200d"  # a sign that is not printable by itself, but holds an emoji family together
_SIGN = "☃"


def all_checks(reading: TextReading) -> list[Question]:
    """The questions that this text decides, at most three; questions about its own words come first."""
    asked = (build(reading) for build in BUILDERS)
    return [each for each in asked if each is not None][:3]


def why_this_cut(reading: TextReading) -> Question | None:
    """Ask why a word is cut at this place, though the vocabulary allows another cut."""
    for word in reading.words:
        if not askable(word) or len(word.pieces) < 2 or not word.text.strip().isalnum():
            continue
        asked = _why_longest(reading.tokenizer.model, word) if isinstance(word, WordSteps) else _why_first(word)
        if asked is not None:
            return asked
    return None


def _why_longest(model: Model, word: WordSteps) -> Question | None:
    first = word.matches[0].candidate
    ends = range(len(first) - 1, 0, -1)
    shorter = next((first[:end] for end in ends if model.token_to_id(first[:end]) is not None), None)
    if shorter is None:
        return None
    why = "The tokenizer takes the longest entry that fits, again and again."
    return question(
        "why-this-cut",
        f"{quoted(word.text)} begins with the token {quoted(first)}. The vocabulary also has {quoted(shorter)}. Why "
        "does the tokenizer take the longer one?",
        [
            Option("The tokenizer always takes the longest entry that fits", why, correct=True),
            Option("It has a meaning of its own", f"The tokenizer knows neither meanings nor grammar. {why}"),
            Option("It is more frequent in texts", f"The number of times an entry occurs does not matter here. {why}"),
        ],
    )


def _why_first(word: BpeWord) -> Question | None:
    if len(word.merges) < 2:
        return None
    first, then = word.merges[:2]
    why = f"It was learned earlier: its rank is {first.rank}, and the rank of the other pair is {then.rank}."
    return question(
        "why-this-cut",
        f"In {quoted(spelled(word))}, {quoted(first.left)} + {quoted(first.right)} is joined before "
        f"{quoted(then.left)} + {quoted(then.right)}. Why?",
        [
            Option("It was learned earlier", why, correct=True),
            Option("It makes a part that has a meaning", f"The tokenizer knows no meanings. {why}"),
            Option("Pairs are joined from left to right", f"The place of a pair in the word does not matter. {why}"),
        ],
    )


def unknown_word(reading: TextReading) -> Question | None:
    """Ask what the model reads in place of a word of the text that it cannot build from tokens."""
    for steps in reading.texts:
        for word in steps.words:
            typed = steps.text[slice(*word.span)]
            readable = typed.replace(_JOINER, "").isprintable()
            if isinstance(word, WordSteps) and word.unknown and askable(word) and readable:
                return _unknown_question(typed, word)
    return None


def _unknown_question(typed: str, word: WordSteps) -> Question | None:
    token = quoted(word.pieces[0].token)
    why = f"One part of the word is not in the vocabulary. Then the whole word becomes {token}."
    options = [
        Option(f"{token}, once", why, correct=True),
        Option("Nothing: the word is left out", f"{why} The model sees that there was a word, but not which word."),
    ]
    if word.matches:
        found = quoted(word.matches[0].candidate)
        options.append(Option(f"{found}, then {token}", f"{why} Pieces that were already found are dropped."))
    if len(word.text) > 1:
        options.append(Option(f"{token}, once for each character", why))
    return question("unknown", f"What does the model read where you typed {quoted(typed)}?", options)


def unknown_sign(reading: TextReading) -> Question | None:
    """Ask what the model reads for a sign that hardly any text contains."""
    tokenizer = reading.tokenizer
    found = tokenizer.encode(f" {_SIGN}", add_special_tokens=False)
    lost, several = unknown_of(tokenizer) in found.ids, len(found.ids) > 1
    if any(_SIGN in steps.text for steps in reading.texts):
        return None
    why = f"It reads {quoted(' · '.join(found.tokens))}."
    if lost:
        why += (
            " It would read the same for every other sign that is not in the vocabulary, so it cannot know that you "
            f"typed {_SIGN}."
        )
    elif several:
        why += " Every text is made of bytes, and each byte is in the vocabulary: nothing is lost."
    return question(
        "unknown-sign",
        f"You add the sign {_SIGN} to your text. What does the model read there?",
        [
            Option("One token that also replaces other unknown signs", why, correct=lost),
            Option("The bytes in which the sign is stored", why, correct=several and not lost),
            Option("A token of its own", why, correct=not lost and not several),
            Option(
                "Nothing: it is left out",
                f"{why} Only signs that nobody can see, such as control characters, are left out.",
            ),
        ],
    )


def in_capitals(reading: TextReading) -> Question | None:
    """Ask whether the model reads other ids if a word of the text is typed in capitals."""
    for word in reading.words:
        small = word.text.strip()
        if not (askable(word) and len(word.pieces) == 1 and small.isascii() and small.isalpha() and small.islower()):
            continue
        if len(small) < 3 or (isinstance(word, WordSteps) and word.unknown):
            continue
        tokens = reading.tokenizer.encode(f" {small.upper()}", add_special_tokens=False).tokens
        same = tuple(tokens) == tuple(piece.token for piece in word.pieces)
        capitals = quoted(small.upper())
        why = (
            f"Normalization turns it into small letters before the lookup, so to this model it is {quoted(small)}."
            if same
            else f"This model keeps capitals. It reads {capitals} as {quoted(' · '.join(tokens))}."
        )
        return question(
            "in-capitals",
            f"You shout: you type {capitals} in place of {quoted(small)}. What does the model notice?",
            [
                Option("Nothing: it reads the same id", why, correct=same),
                Option("It reads other ids", why, correct=not same),
                Option("It reads the same id, and a sign for capitals", f"{why} There is no sign for capitals."),
            ],
        )
    return None


def neighbours_in_the_list(reading: TextReading) -> Question | None:
    """Ask what follows if two words are neighbours in the vocabulary. Nothing about their meaning."""
    for word in reading.words:
        piece = word.pieces[0]
        if not (askable(word) and len(word.pieces) == 1 and word.text.strip().isalpha()):
            continue
        for near in (piece.token_id + 1, piece.token_id - 1):
            other = _plain(reading.tokenizer.id_to_token(near))
            if len(other) > 2 and other.isalpha() and other.isascii():
                return _neighbours(_bare(word), piece.token_id, other, near)
    return None


def _neighbours(word: str, token_id: int, other: str, near: int) -> Question | None:
    why = "An id is only a place in a list. For the model, a word’s meaning begins with a vector, which lesson 2 shows."
    return question(
        "neighbours",
        f"{quoted(word)} has the id {token_id:,}, and {quoted(other)} has the id {near:,}. What do the ids tell you "
        "about the two words?",
        [
            Option("Nothing about their meaning", why, correct=True),
            Option("They have nearly the same meaning", why),
            Option("They often occur side by side", why),
        ],
    )


def _bare(word: Word) -> str:
    return spelled(word).removeprefix("Ġ") if isinstance(word, BpeWord) else word.text


def _plain(token: str | None) -> str:
    return (token or "").removeprefix("Ġ")


BUILDERS = (why_this_cut, unknown_word, unknown_sign, in_capitals, neighbours_in_the_list)
