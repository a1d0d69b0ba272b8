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
from collections.abc import Callable, Hashable, Iterable, Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from lab.models.cores import one_core

# Bytes. A changed run of 32 tokens through a model that ships takes 0.3 MB, of which a class needs some 40 at once; the
# layer maps, thumbnails and cells of eight texts take 20 MB there, surveys 10 MB. bert-base on 512 tokens needs 20 MB
# for a changed run and 170 MB for its maps of all kinds. Layers of runs are kept elsewhere: lab/models/trace.py.
ROOM = 200_000_000
Subject = TypeVar("Subject")
Rest = ParamSpec("Rest")
Result = TypeVar("Result")
_Key = tuple[int, Hashable]


def size_of(value: object, held: object = None) -> int:
    """Bytes that ``value`` keeps in memory: its arrays to the byte, everything else roughly.

    What knows better says so by ``nbytes``, or by ``bytes_beside(held)`` where it holds something that may be ``held``
    anyway: a run holds its model.
    """
    if hasattr(type(value), "bytes_beside"):
        return int(cast("Any", value).bytes_beside(held))
    if hasattr(type(value), "nbytes"):  # arrays, tensors
        return int(cast("Any", value).nbytes)
    own = 0 if is_dataclass(value) else sys.getsizeof(value)
    return own + sum(size_of(part, held) for part in _parts(value))


def _parts(value: object) -> Iterable[object]:
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, f.name) for f in fields(value)]
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    return value if isinstance(value, tuple | list | frozenset | set) else ()


@dataclass(frozen=True)
class _Kept:
    value: Any
    bytes: int


class Memo:
    """Results by the object they were computed from and what was asked: at most ``room`` bytes of them.

    The last ``at_least`` of them stay however large they are.

    Threads that ask for the same result at the same time wait for the first. If that one fails, or its visitor
    leaves, the next one computes: an error reaches whoever caused it, and is not kept. A result must not hold its
    subject, or the subject lives until the result has to make room.
    """

    def __init__(self, room: int, at_least: int = 0) -> None:
        self._room, self._at_least, self._used = room, at_least, 0
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
                        return self._make(key, make, getattr(subject, "model", None))
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

    def _make(self, key: _Key, make: Callable[[], Result], held: object) -> Result:
        promise, made = self._making[key], False
        try:
            value = make()
            size, made = size_of(value, held), True
        finally:
            if not made:
                with self._lock:
                    del self._making[key]
                promise.cancel()
        with self._lock:
            del self._making[key]
            if size <= self._room or self._at_least:
                self._kept[key] = _Kept(value, size)
                self._used += size
                while self._used > self._room and len(self._kept) > self._at_least:
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


def kept(subject: object, asked: Hashable, make: Callable[[], Result]) -> Result:
    """What ``make()`` returned when ``asked`` was first asked of ``subject``: for what :func:`once` cannot wrap."""
    return _MEMO.get(subject, asked, make)


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
