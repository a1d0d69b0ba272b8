"""Before a toy is trained: what must its heads compare to solve the task? Which letter fits the blank?"""

from __future__ import annotations

from lab.course.checks import Option, Question, shuffled
from lab.toy.data import as_text, letter
from lab.toy.rules import LETTERS, Rule
from lab.toy.tasks import Task

# What query and key may be compared by, and where a head that does so looks.
_COMPARED = {
    "previous_token": ("Their positions: the key stands one place back", "Such a head looks one place back."),
    "same_word": ("Their letters: both are the same", "Such a head looks at equal letters."),
    "broad": ("Nothing: every key gets the same score", "Such a head brings the mean of the whole sentence."),
    "induction": (
        "The query’s letter, and the letter that stands before the key",
        "Such a head looks one place after an earlier occurrence of its own letter.",
    ),
}
# Why that is, or is not, what the task needs.
_NEEDS = {
    "previous": "The answer stands one place back, whatever letter is there.",
    "same": "The answer depends only on whether an equal letter stands at another place.",
    "majority": "Every letter counts the same, wherever it stands, so the answer is in the mean of all.",
    "induction": "The answer stands one place after an earlier occurrence. To find it, the key must know which letter "
    "came before it; an earlier layer has to bring that there.",
}


def expected_pattern(task: Task) -> Question:
    """What must query and key be compared by? Right is what solves the task; the task's name does not say it."""
    options = []
    for pattern, (text, looks) in _COMPARED.items():
        right = pattern == task.pattern
        options.append(Option(text, _NEEDS[task.id] if right else f"{looks} {_NEEDS[task.id]}", correct=right))
    prompt = f"The task is “{task.name}”. A head gives large weights where query and key match. What must it compare?"
    return shuffled(f"toy-{task.id}", prompt, options)


def missing_letter(rule: Rule, words: tuple[int, ...], place: int) -> Question:
    """Which letter fits the blank? Wrong are the sentence's other letters, then others: none of them fits the rule."""
    blank = with_blank(words, place)
    offered = list(dict.fromkeys([words[place], *sorted(words), *range(1, LETTERS + 1)]))[:4]
    options = []
    for word in sorted(offered):
        whole = as_text((*words[:place], word, *words[place + 1 :]))
        right = word == words[place]
        why = f"{rule.why} So the sentence is {whole}." if right else f"{whole} would not follow the rule."
        options.append(Option(letter(word), why, correct=right))
    return Question(f"toy-{rule.id}", f"Which letter belongs in the blank of {blank}?", tuple(options))


def with_blank(words: tuple[int, ...], place: int) -> str:
    """The sentence with a blank at ``place`` (from 0): "a b a ▢"."""
    letters = [letter(word) for word in words]
    letters[place] = "▢"
    return " ".join(letters)
