"""What a learner has answered: first tries only, kept in plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Progress:
    """First answers by (lesson id, question id): True where the first try was right."""

    first_tries: Mapping[tuple[str, str], bool] = field(default_factory=dict)

    def answered(self, lesson: str, question: str, correct: bool) -> Progress:
        """This progress with one more answer; a later try never replaces the first."""
        key = (lesson, question)
        return self if key in self.first_tries else Progress({**self.first_tries, key: correct})

    def score(self, lesson: str) -> tuple[int, int]:
        """(right at first try, answered) in a lesson."""
        tries = [right for (at, _), right in self.first_tries.items() if at == lesson]
        return sum(tries), len(tries)
