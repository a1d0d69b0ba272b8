"""The prediction before a training: the head that is called right must hold the answer, and no other may."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lab.questions.toys import expected_pattern
from lab.toy.tasks import IGNORED, TASKS, Task, task

TEXTS = {
    "Their positions: the key is one place back": "previous",
    "Their letters: both are the same": "same",
    "Nothing: every key gets the same score": "majority",
    "The query’s letter, and the letter before the key": "induction",
}


@pytest.mark.parametrize("entry", TASKS, ids=lambda entry: entry.id)
def test_right_is_the_pattern_of_the_task(entry: Task) -> None:
    question = expected_pattern(entry)
    assert TEXTS[question.options[question.answer].text] == entry.id
    assert sorted(option.text for option in question.options) == sorted(TEXTS)
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
