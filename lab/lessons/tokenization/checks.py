"""Checks at the end of the tokenization lesson, computed from how the learner's own text was cut."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator

from lab.course.words import quoted
from lab.lessons.tokenization.predictions import pieces_of
from lab.lessons.tokenization.reading import COUNTABLE, TextReading, Word, askable, joined, not_whole, question, spelled
from lab.questions.question import Option, Question
from lab.text.tokenizers.bpe import BpeWord
from lab.text.tokenizers.wordpiece import WordSteps

_LONG_ENOUGH = 4  # letters of a word that may be mistyped
_JOINER = "\u200d"  # not printable by itself, but what holds an emoji family together


def all_checks(reading: TextReading) -> list[Question]:
    """The questions that this text decides, at most three, those about its own words first."""
    builders = (split_of, unknown_word, mistyped, case_twins, mark, distinct_ids, added_tokens)
    asked = (build(reading) for build in builders)
    return [each for each in asked if each is not None][:3]


def split_of(reading: TextReading) -> Question | None:
    """Which tokens does a word become? The wrong options are other ways to cut it with this vocabulary."""
    split = [word for word in reading.words if askable(word) and len(word.pieces) > 1 and word.text.strip().isalnum()]
    if not split:
        return None
    # Not the hardest word: that one is shown step by step.
    word = min(split, key=lambda each: (len(each.pieces), -len(each.text)))
    why = f"These {len(word.pieces)} tokens are what the model reads."
    options = [Option(joined(word.pieces), why, correct=True)]
    for cut, condition in reading.rivals(word):
        options.append(Option(quoted(" · ".join(cut)), f"It would be cut so {condition}."))
    options.append(Option(quoted(spelled(word)), not_whole(word)))
    return question("split", f"Which tokens does {quoted(spelled(word))} become?", options)


def unknown_word(reading: TextReading) -> Question | None:
    """What does the model read in place of a word it cannot build?"""
    found = next(
        (
            (surface, word)
            for surface, word in _surfaces(reading)
            if isinstance(word, WordSteps) and word.unknown and surface.replace(_JOINER, "").isprintable()
        ),
        None,
    )
    return None if found is None else _unknown_question(*found)


def _unknown_question(surface: str, word: WordSteps) -> Question | None:
    token = quoted(word.pieces[0].token)
    known = [quoted(match.candidate) for match in word.matches]
    why = f"No entry of the vocabulary fits at one place, and the whole word becomes {token}."
    options = [
        Option(f"{token}, once", why, correct=True),
        Option("Nothing: the word is left out", f"Its place in the sentence stays, and {token} stands there."),
    ]
    if known:
        options.append(Option(f"{known[0]}, then {token}", "Pieces found before the gap are thrown away again."))
    if len(word.text) > 1:
        why = f"Its {len(word.text)} characters share one {token}: words are unknown as a whole."
        options.append(Option(f"{token}, {len(word.text)} times", why))
    return question("unknown", f"What does the model read where you wrote {quoted(surface)}?", options)


def mistyped(reading: TextReading) -> Question | None:
    """A letter of a whole word is left out: what does the model read then?"""
    known = [word.text.strip() for word in reading.words if askable(word) and len(word.pieces) == 1]
    words = sorted({word for word in known if word.isalpha() and len(word) >= _LONG_ENOUGH}, key=lambda w: (-len(w), w))
    for word in words:
        wrong = word[: len(word) // 2] + word[len(word) // 2 + 1 :]
        pieces = pieces_of(reading.tokenizer, wrong)
        if len(pieces) > 1:
            made = f"It becomes {quoted(' · '.join(pieces))}."
            return question(
                "mistyped",
                f"{quoted(word)} is one token. What does the model read if you mistype it as {quoted(wrong)}?",
                [
                    Option("Pieces that the vocabulary has", made, correct=True),
                    Option(f"{quoted(word)} all the same", f"{made} No tokenizer corrects spelling."),
                    Option("Nothing: the word is left out", f"{made} Every letter is read."),
                ],
            )
    return None


def case_twins(reading: TextReading) -> Question | None:
    """Do two spellings of one word get the same ids?"""
    seen: dict[str, tuple[str, Word]] = {}
    for surface, word in _surfaces(reading):
        if isinstance(word, WordSteps) and word.unknown:
            continue
        folded = unicodedata.normalize("NFD", surface.removeprefix("Ġ").casefold())
        key = "".join(letter for letter in folded if unicodedata.category(letter) != "Mn")
        earlier, twin = seen.setdefault(key, (surface, word))
        if key.isalpha() and earlier != surface:
            return _twin_question((earlier, twin), (surface, word))
    return None


def _surfaces(reading: TextReading) -> Iterator[tuple[str, Word]]:
    """The words that a question may quote, as they were typed; a BPE word in its visible bytes."""
    for steps in reading.texts:
        for word in steps.words:
            if askable(word):
                yield spelled(word) if isinstance(word, BpeWord) else steps.text[slice(*word.span)], word


def _twin_question(first: tuple[str, Word], second: tuple[str, Word]) -> Question:
    ids = [", ".join(str(piece.token_id) for piece in word.pieces) for _, word in (first, second)]
    a, b = quoted(first[0]), quoted(second[0])
    same = ids[0] == ids[1]
    why = (
        f"Normalization makes both {quoted(first[1].text)} before the vocabulary is asked: {ids[0]}."
        if same
        else f"{a} is {ids[0]} and {b} is {ids[1]}: this tokenizer keeps the difference."
    )
    return Question(
        "twins",
        f"Your text has {a} and {b}. Does the model read the same ids?",
        (Option("Yes, the same", why, correct=same), Option("No, different ones", why, correct=not same)),
    )


def mark(reading: TextReading) -> Question | None:
    """What does ``##``, or ``Ġ``, say about a token?"""
    for word in reading.words:
        if isinstance(word, WordSteps):
            if askable(word) and len(word.pieces) > 1:
                return _continues(word)
        elif askable(word) and word.text[:1] == " " and word.text[1:].isalnum() and not word.prefixed:
            return _after_space(word)
    return None


def _continues(word: WordSteps) -> Question | None:
    piece = word.pieces[1].token
    made = f"{quoted(word.text)} became {joined(word.pieces)}."
    right = "It continues the word on its left"
    return question(
        "mark",
        f"What does {quoted(word.continuing_prefix)} at the start of {quoted(piece)} say?",
        [
            Option(right, f"{made} Every piece but the first has the mark.", correct=True),
            Option("It is the last piece of its word", f"{made} The mark tells what comes before, not what follows."),
            Option("It is not in the vocabulary", f"It is, with the id {word.pieces[1].token_id}, mark included."),
        ],
    )


def _after_space(word: BpeWord) -> Question | None:
    piece = word.pieces[0]
    why = "The space is byte 32, and “Ġ” is the sign for byte 32."
    return question(
        "mark",
        f"What does {quoted(piece.token[:1])} at the start of {quoted(piece.token)} say?",
        [
            Option("A space stands before it in the text", why, correct=True),
            Option("It continues the word on its left", "The other way round: a piece inside a word has no sign."),
            Option("It is not in the vocabulary", f"It is, with the id {piece.token_id}, sign included."),
        ],
    )


def distinct_ids(reading: TextReading) -> Question | None:
    """How many different ids does the input hold? Decided only where a token stands twice."""
    encoding = reading.encoding
    n, counts = len(encoding), Counter(encoding.tokens)
    if n > COUNTABLE or len(counts) == n:
        return None
    token, times = counts.most_common(1)[0]
    example = f"{quoted(token)} stands {'twice' if times == 2 else f'{times} times'} and has one id."
    content = [token for token, special in zip(encoding.tokens, encoding.special, strict=True) if not special]
    return question(
        "distinct-ids",
        f"This input has {n} tokens. How many different ids?",
        [
            Option(str(len(counts)), example, correct=True),
            Option(str(n), f"{example} A token has the same id wherever it stands."),
            Option(str(len(set(content))), "This leaves out the tokens that the model added; they have ids too."),
            Option(str(len(content)), "This is the number of tokens that come from the text."),
        ],
    )


def added_tokens(reading: TextReading) -> Question | None:
    """How many tokens stand for none of the learner's characters?"""
    encoding = reading.encoding
    places = [
        f"{quoted(token)} (token {position})"
        for position, (token, special) in enumerate(zip(encoding.tokens, encoding.special, strict=True), start=1)
        if special
    ]
    right = len(places)
    listed = f"The model added {', '.join(places)}." if places else "This model adds none."
    near = [number for number in (right - 1, right + 1, right + 2) if number >= 0]
    return question(
        "added",
        f"How many of the {len(encoding)} tokens did the model add to your text?",
        [
            Option(str(right), listed, correct=True),
            *(Option(str(number), f"{listed} That makes {right}.") for number in near),
        ],
    )
