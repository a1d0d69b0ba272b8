"""Trained layers on a server: shared, bounded, and gone with those who hold them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from lab.lessons.a_task_of_your_own import copies
from lab.lessons.a_task_of_your_own.copies import Copy, copy_of, keep


@dataclass
class Layer:
    """Stands for a trained model of a size."""

    nbytes: int


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(copies, "ROOM", 100)
    copies._COPIES.clear()
    yield
    copies._COPIES.clear()


def kept(key: str, size: int) -> Copy:
    copy, layer = copy_of(key), Layer(size)
    trained: Any = layer
    keep(copy, trained)
    return copy


def test_all_who_train_the_same_share_one_copy() -> None:
    one = copy_of("a")
    assert copy_of("a") is one and copy_of("b") is not one


def test_the_oldest_copies_go_if_there_is_no_room() -> None:
    first, second = kept("a", 40), kept("b", 40)
    third = kept("c", 40)
    assert first.tuned is None and second.tuned is not None and third.tuned is not None
    assert copy_of("a") is first  # its visitor trains again, in the same place


def test_a_copy_larger_than_all_room_is_still_there_for_its_visitor() -> None:
    first = kept("a", 40)
    large = kept("b", 500)
    assert large.tuned is not None and first.tuned is None


def test_a_copy_goes_with_its_visitors() -> None:
    kept("a", 40)
    gc.collect()
    assert len(copies._COPIES) == 0
