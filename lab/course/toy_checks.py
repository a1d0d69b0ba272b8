"""Before a toy is trained: which heads does its task ask for?"""

from __future__ import annotations

from lab.course.checks import Option, Question, shuffled
from lab.toy.tasks import Task

# Where heads of a pattern look, and what they bring along.
_PATTERNS = {
    "previous_token": ("The token before", "A head that looks one place back brings along the number before."),
    "same_word": ("Tokens equal to its own", "A head that looks at equal tokens brings along its own number again."),
    "broad": ("All tokens alike", "A head that looks at all tokens alike brings along the mean of the sentence."),
    "induction": (
        "What followed its own number before",
        "A head that looks one place after an earlier occurrence brings along what came next there.",
    ),
}
# Why that is, or is not, what the task needs.
_NEEDS = {
    "previous": "The answer stands one place back and nowhere else.",
    "same": "The answer depends only on whether an equal number stands at another place.",
    "majority": "Every number counts the same, wherever it stands, so the answer is in the mean of all.",
    "induction": "The answer stands one place after an earlier occurrence. To find that place, its key must know which "
    "number came before it: an earlier layer has to bring that there.",
}


def expected_pattern(task: Task) -> Question:
    """Which pattern will the heads form? Right is the one that solves the task."""
    options = []
    for pattern, (text, brings) in _PATTERNS.items():
        right = pattern == task.pattern
        options.append(Option(text, _NEEDS[task.id] if right else f"{brings} {_NEEDS[task.id]}", correct=right))
    prompt = f"Where must a head look to solve the task “{task.name}”?"
    return shuffled(f"toy-{task.id}", prompt, options)
