"""What is computed once: for whom, for how long, and by how many threads at the same time."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from lab.models.memo import Memo, once, size_of
from lab.models.trace import trace
from lab.toy.models import random_toy


class Subject:
    """Something results are computed from; unlike ``object()`` it can be referred to weakly."""


def counting(size: int = 8) -> tuple[list[int], Callable[[], np.ndarray]]:
    calls: list[int] = []

    def make() -> np.ndarray:
        calls.append(1)
        return np.zeros(size, dtype=np.uint8)

    return calls, make


def test_the_second_time_it_is_there() -> None:
    memo, subject = Memo(10_000), Subject()
    calls, make = counting()
    assert memo.get(subject, "a", make) is memo.get(subject, "a", make)
    assert len(calls) == 1
    memo.get(subject, "b", make)
    memo.get(Subject(), "a", make)
    assert len(calls) == 3


def test_what_was_used_longest_ago_makes_room() -> None:
    memo, subject = Memo(25_000), Subject()
    calls, make = counting(10_000)
    memo.get(subject, "a", make)
    memo.get(subject, "b", make)
    memo.get(subject, "a", make)  # used again, so "b" is the oldest
    memo.get(subject, "c", make)
    assert len(calls) == 3
    memo.get(subject, "a", make)
    assert len(calls) == 3
    memo.get(subject, "b", make)
    assert len(calls) == 4


def test_what_is_larger_than_the_room_is_not_kept() -> None:
    memo, subject = Memo(5_000), Subject()
    (calls, make), (few, small) = counting(6_000), counting(8)
    memo.get(subject, "small", small)
    memo.get(subject, "a", make)
    memo.get(subject, "a", make)
    memo.get(subject, "small", small)
    assert len(calls) == 2 and len(few) == 1, "and nothing else had to go for it"


def test_the_newest_may_be_larger_than_the_room() -> None:
    memo, subject = Memo(5_000, at_least=1), Subject()
    calls, make = counting(6_000)
    for asked in ("a", "a", "b", "b", "a"):
        memo.get(subject, asked, make)
    assert len(calls) == 3


def test_results_go_with_what_they_were_computed_from() -> None:
    memo = Memo(10_000)
    calls, make = counting(8_000)
    for _ in range(20):  # addresses are given to the next object
        memo.get(Subject(), "a", make)
        gc.collect(0)
    assert len(calls) == 20
    stays = Subject()
    memo.get(stays, "a", make)
    memo.get(stays, "a", make)
    assert len(calls) == 21


def test_many_threads_compute_once() -> None:
    memo, subject = Memo(10_000), Subject()
    calls: list[int] = []
    found: list[object] = []

    def make() -> object:
        calls.append(1)
        time.sleep(0.05)
        return "made"

    threads = [threading.Thread(target=lambda: found.append(memo.get(subject, "a", make))) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(calls) == 1
    assert found == ["made"] * 12


def test_nested_results_never_wait_for_each_other_for_ever() -> None:
    """More threads than cores, all of them in need of one inner result."""
    memo, subject = Memo(1000), Subject()

    def inner() -> int:
        time.sleep(0.02)
        return 1

    def outer() -> int:
        return memo.get(subject, "inner", inner) + 1

    threads = [threading.Thread(target=memo.get, args=(subject, f"outer {i}", outer)) for i in range(16)]
    threads += [threading.Thread(target=memo.get, args=(subject, "inner", inner)) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert not any(thread.is_alive() for thread in threads)


def test_who_waits_for_somebody_who_leaves_computes() -> None:
    """A visitor's page may be stopped in the middle of a computation that others wait for."""
    memo, subject, begun, go_on = Memo(10_000), Subject(), threading.Event(), threading.Event()
    found: list[str] = []

    class Left(BaseException):
        """As Streamlit stops a script."""

    def stopped() -> str:
        begun.set()
        go_on.wait(10)
        raise Left

    def leave() -> None:
        with pytest.raises(Left):
            memo.get(subject, "a", stopped)

    first = threading.Thread(target=leave)
    first.start()
    assert begun.wait(10)
    second = threading.Thread(target=lambda: found.append(memo.get(subject, "a", lambda: "made")))
    second.start()
    go_on.set()
    for thread in (first, second):
        thread.join(10)
    assert found == ["made"]


def test_an_error_is_not_kept() -> None:
    memo, subject = Memo(10_000), Subject()
    calls: list[int] = []

    def fails() -> None:
        calls.append(1)
        raise ValueError("no row has a choice")

    for _ in range(2):
        with pytest.raises(ValueError, match="no row has a choice"):
            memo.get(subject, "a", fails)
    assert len(calls) == 2


def test_arguments_mean_the_same_by_place_and_by_name() -> None:
    calls: list[tuple[int, str]] = []

    @once
    def read(subject: Subject, layer: int, how: str = "raw") -> str:
        """Read something off a subject."""
        calls.append((layer, how))
        return how

    subject = Subject()
    assert read(subject, 1) == read(subject, layer=1, how="raw") == read(subject, 1, "raw") == "raw"
    assert read(subject, 1, "corrected") == "corrected"
    assert calls == [(1, "raw"), (1, "corrected")]
    assert read.__doc__ == "Read something off a subject."


def test_sizes() -> None:
    @dataclass(frozen=True)
    class Pair:
        first: np.ndarray
        second: torch.Tensor

    pair = Pair(np.zeros((3, 4), dtype=np.float32), torch.zeros(5, dtype=torch.float64))
    assert size_of(pair) == 48 + 40
    assert size_of((pair, pair)) >= 2 * 88
    assert size_of({"a": pair}) >= 88


def test_a_run_counts_its_model_unless_that_lives_anyway() -> None:
    model = random_toy(8, 8, seed=0)
    run = trace(model, "a b c")
    assert size_of(run, held=model) == run.nbytes == run.hidden_states.nbytes
    assert size_of(run) == run.nbytes + size_of(model) > run.nbytes + model.weights.embeddings.token.nbytes
    assert size_of((run, run), held=model) >= 2 * run.nbytes


class Model:
    """What a result may be asked for beside its subject; like a model, it equals only itself."""

    nbytes = 7_000_000


@dataclass(frozen=True)
class Choice:
    """A plain value that holds a model."""

    model: Model
    text: str


@pytest.mark.parametrize(
    "asked", [lambda model: ("a", model), lambda model: ("a", Choice(model, "x")), lambda model: ("a", (1, (model,)))]
)
def test_a_result_does_not_keep_what_it_was_asked_for(asked: Callable[[Model], tuple[object, ...]]) -> None:
    memo, subject, model = Memo(10_000), Subject(), Model()
    calls, make = counting()
    memo.get(subject, asked(model), make)
    memo.get(subject, asked(model), make)
    assert len(calls) == 1, "the same model gives the same key"
    other = Model()
    memo.get(subject, asked(other), make)
    assert len(calls) == 2
    there = weakref.ref(model)
    del model
    assert there() is None, "nothing but the key held it"
    memo.get(subject, asked(other), make)
    assert len(calls) == 2 and len(memo._kept) == 1 and set(memo._keys) == {id(subject), id(other)}


def test_a_tensor_in_a_key_goes_with_its_result() -> None:
    memo, subject, tensor = Memo(10_000), Subject(), torch.zeros(3)
    calls, make = counting()
    memo.get(subject, (tensor, 1), make)
    memo.get(subject, (tensor, 1), make)
    assert len(calls) == 1
    there = weakref.ref(tensor)
    del tensor
    memo.get(subject, "other", make)
    assert there() is None and len(memo._kept) == 1


def test_keys_take_room() -> None:
    memo, subject = Memo(100_000), Subject()
    for number in range(50):
        memo.get(subject, str(number) * 10_000, lambda: 1)
    assert len(memo._kept) < 10 and memo._used <= 100_000
    assert sum(len(keys) for keys in memo._keys.values()) == len(memo._kept)
