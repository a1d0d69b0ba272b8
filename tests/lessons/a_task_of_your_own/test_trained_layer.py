"""Trained layers on a server: shared, bounded, and gone with those who hold them."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from lab.lessons.a_task_of_your_own import trained_layer
from lab.lessons.a_task_of_your_own.trained_layer import Copy, copy_of, keep


@dataclass(eq=False)
class Layer:
    """Stands for a trained model of a size."""

    nbytes: int


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(trained_layer, "ROOM", 100)
    trained_layer._COPIES.clear()
    yield
    trained_layer._COPIES.clear()


def kept(key: str, size: int, whose: str = "") -> Copy:
    copy, layer = copy_of(key), Layer(size)
    trained: Any = layer
    keep(copy, trained, whose)
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
    assert len(trained_layer._COPIES) == 0


def test_who_has_most_layers_gives_first() -> None:
    mine = kept("mine", 30, "me")
    theirs = [kept(f"theirs {number}", 30, "they") for number in range(5)]
    assert mine.tuned is not None and [each.tuned is not None for each in theirs] == [False, False, False, True, True]
    assert theirs[0].had_to_go and not mine.had_to_go


def test_what_was_found_stays_when_the_layer_goes() -> None:
    first, made = kept("a", 60), list[Any]()

    def count(tuned: Any) -> int:
        made.append(tuned)
        return len(made)

    assert first.result("shown", count) == first.result("shown", count) == 1
    kept("b", 60)
    assert first.tuned is None and first.had_to_go
    assert first.result("shown", count) == 1 and first.result("never shown", count) is None
    kept("a", 60)
    assert first.result("never shown", count) == 2 and not first.had_to_go


def test_what_was_found_is_bounded_and_holds_no_layer() -> None:
    copy = kept("a", 40)
    layer = weakref.ref(copy.tuned)
    for number in range(100):
        copy.result(number, lambda tuned: tuned.nbytes)
    assert len(copy._found) <= 20 and copy.result(99, lambda tuned: 0) == 40
    kept("b", 90)
    gc.collect()
    assert layer() is None
