"""The tasks that a toy can learn; their answers are words of the sentence's own vocabulary.

Every task labels the sentences of :mod:`lab.toy.data`, so the learner sees sentences of the same
kind as the toy's training sentences. An answer is a token id; places without an answer hold :data:`IGNORED`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from lab.toy.data import SHORTEST

if TYPE_CHECKING:
    from torch import Generator, Tensor

# The target at a place without an answer; torch's cross-entropy ignores it.
IGNORED = -100


@dataclass(frozen=True)
class Task:
    """A task. ``short`` is the task's name inside a model's name.

    ``pattern`` is the pattern of the head that solves the task (an id of :mod:`lab.analysis.heads.patterns`, or
    ``induction``), ``look_for`` describes this pattern on a map. ``causal`` is true if the toy sees only earlier tokens
    (like GPT-2), not the whole sentence (like BERT). ``layers`` is the number of layers of the solution, ``steps`` the
    number of weight updates in a whole run. ``answers`` maps words (..., n) to answers of the same shape.
    """

    id: str
    name: str
    short: str
    description: str
    pattern: str
    look_for: str
    causal: bool
    layers: int
    steps: int
    answers: Callable[[Tensor], Tensor]
    hides: ClassVar[bool] = False  # true if the toy reads a sentence with a blank

    def lengths_to(self, longest: int) -> range:
        """Return the lengths of sentences, up to ``longest``."""
        return range(SHORTEST, longest + 1)

    def draw(self, vocabulary: int, length: int, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw ``count`` sentences of one length, and return them and their answers, both (count, length)."""
        import torch

        words = torch.randint(1, vocabulary + 1, (count, length), generator=generator)
        return words, self.answers(words)


def previous_token(words: Tensor) -> Tensor:
    """Return the token before each token, (..., n) -> (..., n); the first token has no answer."""
    import torch

    return torch.cat([torch.full_like(words[..., :1], IGNORED), words[..., :-1]], dim=-1)


def occurrences(words: Tensor) -> Tensor:
    """1 for a token that occurs once in the sentence, 2 for a token that occurs more often, (..., n) -> (..., n)."""
    return (words[..., :, None] == words[..., None, :]).sum(-1).clamp(max=2)


def most_frequent(words: Tensor) -> Tensor:
    """Return the sentence's most frequent token, or the smallest in a tie, at every place, (..., n) -> (..., n)."""
    import torch

    counts = (words[..., :, None] == words[..., None, :]).sum(-1)
    candidates = torch.where(counts == counts.amax(-1, keepdim=True), words, words.max() + 1)
    return candidates.amin(-1, keepdim=True).expand_as(words)


def followed_last_time(words: Tensor) -> Tensor:
    """The token that followed each token at its last occurrence, (..., n) -> (..., n).

    A token that occurs for the first time has no answer.
    """
    import torch

    n = words.shape[-1]
    before = torch.ones(n, n, dtype=torch.bool).tril(-1)
    earlier = (words[..., :, None] == words[..., None, :]) & before  # (query, key)
    last = torch.where(earlier, torch.arange(n), -1).amax(-1)  # -1: never before
    return torch.where(last < 0, IGNORED, words.gather(-1, last + 1))


TASKS = (
    Task(
        "previous", "Copy the previous token", "copy previous", "At each place, answer with the letter before it.",
        "previous_token", "a line one step below the diagonal", False, 1, 400, previous_token,
    ),
    Task(
        "same", "Does it occur again?", "occurs again",
        "At each place, answer b if the same letter occurs elsewhere in the sentence, too, and a if it does not.",
        "same_word", "strong cells where row and column hold the same letter", False, 1, 800, occurrences,
    ),
    Task(
        "majority", "Most frequent token", "most frequent",
        "At every place, answer with the letter that occurs most often; of equally frequent ones, the first in the "
        "alphabet.",
        "broad", "rows of one even colour", False, 1, 600, most_frequent,
    ),
    Task(
        "induction", "What came next last time?", "induction",
        "Where a letter occurs again, answer with what followed it the last time: after c d … c, the answer is d.",
        "induction", "strong cells one place after an earlier occurrence of the row’s letter", True, 2, 500,
        followed_last_time,
    ),
)  # fmt: skip


def task(name: str) -> Task:
    """Return the task with this id. Raises KeyError if there is no such task."""
    for entry in TASKS:
        if entry.id == name:
            return entry
    raise KeyError(f"there is no task {name!r}; there are {', '.join(entry.id for entry in TASKS)}.")


def task_named(name: str) -> Task:
    """Return the task with this name on screen, or the first task if there is no such name."""
    return next((entry for entry in TASKS if entry.name == name), TASKS[0])
