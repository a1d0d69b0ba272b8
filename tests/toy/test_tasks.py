"""Every task's answers, by naive loops over the words."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lab.toy.tasks import IGNORED, TASKS, task, task_named

SENTENCES = st.lists(st.integers(1, 6), min_size=1, max_size=12)


def _previous(words: list[int]) -> list[int]:
    return [words[i - 1] if i else IGNORED for i in range(len(words))]


def _same(words: list[int]) -> list[int]:
    return [2 if words.count(word) > 1 else 1 for word in words]


def _majority(words: list[int]) -> list[int]:
    most = max(words.count(word) for word in words)
    return [min(word for word in words if words.count(word) == most)] * len(words)


def _induction(words: list[int]) -> list[int]:
    found = []
    for place, word in enumerate(words):
        answer = IGNORED
        for earlier in range(place):
            if words[earlier] == word:
                answer = words[earlier + 1]
        found.append(answer)
    return found


NAIVE = {"previous": _previous, "same": _same, "majority": _majority, "induction": _induction}


@pytest.mark.parametrize("name", NAIVE)
@given(words=SENTENCES)
def test_answers_are_those_of_a_loop(name: str, words: list[int]) -> None:
    assert task(name).answers(torch.tensor(words)).tolist() == NAIVE[name](words)


@pytest.mark.parametrize("name", NAIVE)
def test_sentences_of_a_batch_do_not_mix(name: str) -> None:
    batch = torch.randint(1, 5, (30, 7), generator=torch.Generator().manual_seed(0))
    assert task(name).answers(batch).tolist() == [NAIVE[name](words) for words in batch.tolist()]


@pytest.mark.parametrize(
    ("name", "answers"),
    [
        ("previous", [IGNORED, 3, 5, 3, 2]),
        ("same", [2, 1, 2, 1, 1]),
        ("majority", [3, 3, 3, 3, 3]),
        ("induction", [IGNORED, IGNORED, 5, IGNORED, IGNORED]),
    ],
)
def test_by_hand(name: str, answers: list[int]) -> None:
    assert task(name).answers(torch.tensor([3, 5, 3, 2, 4])).tolist() == answers


def test_of_equally_frequent_words_the_smallest_wins() -> None:
    assert task("majority").answers(torch.tensor([7, 2, 7, 2])).tolist() == [2, 2, 2, 2]


def test_tasks_are_found_by_id_and_by_name() -> None:
    assert [entry.id for entry in TASKS] == list(NAIVE)
    assert all(task_named(entry.name) is entry and task(entry.id) is entry for entry in TASKS)
    assert task_named("<script>") is TASKS[0]
    with pytest.raises(KeyError, match="there is no task 'sorting'"):
        task("sorting")
