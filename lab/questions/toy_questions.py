"""Questions about toys: what a trained toy must compare, and where hand-written heads look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lab.questions.question import Option, Question, shuffled
from lab.toy.data import letter
from lab.toy.tasks import Task

# Quantities by which a head may compare query and key, and where a head with this comparison looks.
_COMPARED = {
    "previous_token": ("Their positions: the key is one place back", "Such a head looks one place back."),
    "same_word": ("Their letters: both are the same", "Such a head looks at equal letters."),
    "broad": ("Nothing: every key gets the same score", "Such a head brings the mean of the whole sentence."),
    "induction": (
        "The query’s letter, and the letter before the key",
        "Such a head looks one place after an earlier occurrence of its own letter.",
    ),
}
# For each task, the reason why it needs one of these quantities and not the others.
_NEEDS = {
    "previous": "The answer is one place back, whatever letter is there.",
    "same": "The answer depends only on whether an equal letter occurs elsewhere.",
    "majority": "Every letter counts the same, wherever it is, so the answer is in the mean of all letters.",
    "induction": (
        "The answer is one place after an earlier occurrence of the letter. To find it, the key must know which letter "
        "came before it; an earlier layer has to bring this information there."
    ),
}


def expected_pattern(task: Task) -> Question:
    """Ask by which quantity query and key must be compared.

    The right option solves the task; the task's name does not say it.
    """
    options = []
    for pattern, (text, looks) in _COMPARED.items():
        right = pattern == task.pattern
        options.append(Option(text, _NEEDS[task.id] if right else f"{looks} {_NEEDS[task.id]}", correct=right))
    prompt = f"The task is “{task.name}”. A head gives large weights where query and key match. What must it compare?"
    return shuffled(f"toy-{task.id}", prompt, options)


def with_blank(words: tuple[int, ...], place: int) -> str:
    """The sentence with a blank at ``place`` (from 0): "a b a ▢"."""
    letters = [letter(word) for word in words]
    letters[place] = "▢"
    return " ".join(letters)


_PAIR_HINTS = {
    "toy-across": "Which two things must be true of such a pair of tokens?",
    "toy-shared": "This head compares letters and sentences. What scores highest for this letter?",
    "toy-alone": "No letter of the other sentence is equal. What scores highest then?",
    "toy-segment": "For this head every token is in one sentence now. What is left to compare?",
}


def pair_checks(first: Sequence[str], second: Sequence[str]) -> tuple[Question | None, ...]:
    """Ask where the two heads of the toy with two sentences look; ``first`` and ``second`` have their letters."""
    shared = next((letter for letter in first if letter in second), None)
    alone = next((letter for letter in first if letter not in second), None)
    asked = (
        _compared_across(),
        None if shared is None else _looks("shared", shared, present=True),
        None if alone is None else _looks("alone", alone, present=False),
        _one_segment(),
    )
    return tuple(None if each is None else replace(each, hint=_PAIR_HINTS[each.id]) for each in asked)


def _compared_across() -> Question:
    prompt = "A head looks at the same letter in the other sentence. What must its query and key compare?"
    return shuffled(
        "toy-across",
        prompt,
        [
            Option(
                "The letters, and in which sentence they are",
                "Equal letters in different sentences give the largest score.",
                correct=True,
            ),
            Option("The letters alone", "Then every token would look at itself, too: it has its own letter."),
            Option("The sentences alone", "Then all letters of the other sentence would get the same weight."),
            Option("The positions", "Nobody knows in advance at which place of the other sentence the letter is."),
        ],
    )


def _looks(id: str, letter: str, *, present: bool) -> Question:
    """Ask where a letter of sentence 1 looks in the head that looks across the sentences."""
    has = "has it, too" if present else "does not have it"
    why = (
        "An equal letter in the other sentence scores 40, the [SEP] there 30, everything else 20 at most. The softmax "
        "leaves next to nothing for keys that score 10 less."
    )
    prompt = f"Sentence 1 has the letter *{letter}*. Sentence 2 {has}. Where does *{letter}* look in head 1?"
    options = {
        f"At *{letter}* in sentence 2": present,
        "At the [SEP] of sentence 2": not present,
        f"At itself, *{letter}* in sentence 1": False,
        "At all letters of sentence 2 alike": False,
    }
    return shuffled(f"toy-{id}", prompt, [Option(text, why, correct=right) for text, right in options.items()])


def _one_segment() -> Question:
    why = (
        "All tokens are in one segment now, so this head can compare only letters: every token finds itself, and equal "
        "letters anywhere in the text."
    )
    prompt = "Both sentences are read as one text: one segment for all. Where does a token look in head 1 now?"
    options = {
        "At its own letter anywhere, itself included": True,
        "At its own letter in the other sentence, as before": False,
        "At all letters alike": False,
    }
    return shuffled("toy-segment", prompt, [Option(text, why, correct=right) for text, right in options.items()])
