"""The prediction before a training: the head that is called right must hold the answer, and no other may."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lab.questions.toy_questions import expected_pattern
from lab.toy.tasks import IGNORED, TASKS, Task, task

# What the option that is right for a task is about.
ABOUT = {"previous": "positions", "same": "both are the same", "majority": "Nothing", "induction": "before the key"}


@pytest.mark.parametrize("entry", TASKS, ids=lambda entry: entry.id)
def test_right_is_the_pattern_of_the_task(entry: Task) -> None:
    question = expected_pattern(entry)
    assert ABOUT[entry.id] in question.options[question.answer].text
    said = [[id for id, about in ABOUT.items() if about in option.text] for option in question.options]
    assert sorted(said) == sorted([id] for id in ABOUT)
    assert entry.name in question.prompt


def test_each_task_has_a_question_of_its_own() -> None:
    assert len({expected_pattern(entry).id for entry in TASKS}) == len(TASKS)


def test_what_the_right_head_looks_at_holds_the_answer() -> None:
    """Copying tasks: the token at the key is the answer. The other patterns' keys often hold another."""
    words = torch.randint(1, 9, (200, 8), generator=torch.Generator().manual_seed(0))
    for sentence in words:
        previous, follower = (task(name).answers(sentence) for name in ("previous", "induction"))
        for i in range(1, 8):
            assert previous[i] == sentence[i - 1]
            earlier = [j for j in range(i) if sentence[j] == sentence[i]]
            assert follower[i] == (sentence[earlier[-1] + 1] if earlier else IGNORED)
    counts = np.array([[(s == w).sum() for w in range(1, 9)] for s in words.numpy()])
    assert (task("majority").answers(words)[:, 0].numpy() == counts.argmax(1) + 1).all()
