"""What is read off a run, computed once for all who look at it.

A page draws the same run again at every click, and a class looks at one sentence: :func:`once` keeps what a function
found for a trace (or a model) for as long as that lives and there is room. What was used longest ago goes first.
"""

from __future__ import annotations

import functools
import inspect
import sys
import threading
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import numpy as np
from torch import Tensor

from lab.models.cores import one_core

ROOM = 96_000_000  # bytes
Subject = TypeVar("Subject")
Rest = ParamSpec("Rest")
Result = TypeVar("Result")
_Key = tuple[int, Hashable]


def size_of(value: object) -> int:
    """Bytes that ``value`` keeps in memory: its arrays to the byte, everything else roughly."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, Tensor):
        return value.element_size() * value.nelement()
    if is_dataclass(value) and not isinstance(value, type):
        return sum(size_of(getattr(value, f.name)) for f in fields(value))
    if isinstance(value, tuple | list | frozenset | set):
        return sys.getsizeof(value) + sum(map(size_of, value))
    if isinstance(value, Mapping):
        return sys.getsizeof(value) + sum(size_of(key) + size_of(each) for key, each in value.items())
    return sys.getsizeof(value)


@dataclass(frozen=True)
class _Kept:
    value: Any
    bytes: int


class Memo:
    """Results by the object they were computed from and what was asked; at most ``room`` bytes of them.

    Threads that ask for the same result at the same time wait for the first. If that one fails, or its visitor
    leaves, the next one computes: an error reaches whoever caused it, and is not kept. A result must not hold its
    subject, or the subject lives until the result has to make room.
    """

    def __init__(self, room: int) -> None:
        self._room, self._used = room, 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[_Key, _Kept] = OrderedDict()
        self._making: dict[_Key, Future[Any]] = {}
        # Subjects that are gone. An address may be given to another object, so what was kept for it goes first.
        self._gone: deque[int] = deque()
        self._known: set[int] = set()

    def get(self, subject: object, asked: Hashable, make: Callable[[], Result]) -> Result:
        """What ``make()`` returned the first time this was asked of ``subject``."""
        key = (id(subject), asked)
        while True:
            found = self._look(key, subject)
            if found is None:
                # Whoever makes a result holds a core before others begin to wait for it, so nobody waits for ever.
                with one_core():
                    found = self._look(key, subject, begin=True)
                    if found is None:
                        return self._make(key, make)
            try:
                value: Result = found.result()
            except CancelledError:
                continue  # whoever made it was stopped, or failed: the next one finds out for itself
            return value

    def _look(self, key: _Key, subject: object, begin: bool = False) -> Future[Any] | None:
        """The result, there or to come; None if nobody has begun, and then with ``begin`` the caller has."""
        with self._lock:
            self._forget_gone()
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
                there: Future[Any] = Future()
                there.set_result(kept.value)
                return there
            coming = self._making.get(key)
            if coming is None and begin:
                self._making[key] = Future()
                if key[0] not in self._known:
                    self._known.add(key[0])
                    weakref.finalize(subject, self._gone.append, key[0])
            return coming

    def _make(self, key: _Key, make: Callable[[], Result]) -> Result:
        promise, made = self._making[key], False
        try:
            value = make()
            size, made = size_of(value), True
        finally:
            if not made:
                with self._lock:
                    del self._making[key]
                promise.cancel()
        with self._lock:
            del self._making[key]
            if size <= self._room:
                self._kept[key] = _Kept(value, size)
                self._used += size
                while self._used > self._room:
                    _, oldest = self._kept.popitem(last=False)
                    self._used -= oldest.bytes
        promise.set_result(value)
        return value

    def _forget_gone(self) -> None:
        while self._gone:
            address = self._gone.popleft()
            self._known.discard(address)
            for key in [key for key in self._kept if key[0] == address]:
                self._used -= self._kept.pop(key).bytes


_MEMO = Memo(ROOM)


def once(function: Callable[Concatenate[Subject, Rest], Result]) -> Callable[Concatenate[Subject, Rest], Result]:
    """Compute ``function(trace, …)`` once for each trace and each set of further arguments.

    The first argument is a trace or a model; the others must be hashable. The result is shared by all callers, so
    nobody may change it. One core is held while it is computed.

    >>> from lab.models.memo import once
    >>> @once
    ... def longest_token(trace):
    ...     return max(trace.tokens, key=len)
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def remembering(subject: Subject, *args: Rest.args, **kwargs: Rest.kwargs) -> Result:
        bound = signature.bind(subject, *args, **kwargs)
        bound.apply_defaults()
        asked = (function, *list(bound.arguments.values())[1:])
        return _MEMO.get(subject, asked, lambda: function(subject, *args, **kwargs))

    return cast("Callable[Concatenate[Subject, Rest], Result]", remembering)
