"""Results computed from a run once and shared by all visitors.

A page draws the same run again at every click, and a whole class looks at one sentence. So :func:`once` keeps a
function's result for a trace (or a model) as long as the trace exists and there is room. The least recently used result
is dropped first.

The key of a result takes room, too. A model, a run or a tensor in the key is not kept for the sake of the result: when
it goes, the result goes.
"""

from __future__ import annotations

import functools
import inspect
import sys
import threading
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from lab.models.cores import breathe, no_core, one_core

# The most bytes to keep. In a shipped model, a changed run of 32 tokens takes 0.3 MB, and a class needs about 40 such
# runs at once; layer maps, thumbnails and cells of eight texts take 20 MB, surveys 10 MB. In bert-base on 512 tokens, a
# changed run takes 20 MB and maps of all kinds 170 MB. The layers of runs are kept separately, in lab/models/trace.py.
ROOM = 200_000_000
Subject = TypeVar("Subject")
Rest = ParamSpec("Rest")
Result = TypeVar("Result")


@dataclass(frozen=True)
class _Same:
    """In a key, the place of an object that equals only itself, so that the key does not keep the object."""

    address: int


_Key = tuple[_Same, Hashable]


def size_of(value: object, held: object = None) -> int:
    """Bytes that ``value`` keeps in memory: exact for arrays, rough for everything else.

    An object may give its own size by ``nbytes``, or by ``bytes_beside(held)`` if part of it may be ``held``
    anyway, as a run's model may be.
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
    """Results by their subject (the object they were computed from) and their key: at most ``room`` bytes of both.

    The last ``at_least`` results are kept even if they are larger.

    Threads that need the same result at the same time wait for the first thread. If the first fails, or its visitor
    leaves, the next thread computes the result; an error reaches only the thread that caused it, and is not kept. A
    result must not hold its subject, because the subject would then be kept in memory until the result is dropped.
    """

    def __init__(self, room: int, at_least: int = 0) -> None:
        self._room, self._at_least, self._used = room, at_least, 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[_Key, _Kept] = OrderedDict()
        self._making: dict[_Key, Future[Any]] = {}
        # Addresses of deleted objects. Results of an object that is gone are dropped before any look-up, because its
        # address may be used again. For each object that is there: the keys of its results.
        self._gone: deque[int] = deque()
        self._keys: dict[int, set[_Key]] = {}

    def get(self, subject: object, asked: Hashable, make: Callable[[], Result]) -> Result:
        """Return the result of ``make()`` for ``subject`` and the key ``asked``, computed at the first call."""
        others = list[object]()
        key = (_Same(id(subject)), _without_objects(asked, others))
        breathe()  # a page is made of many results; others may compute between two of them
        while True:
            found = self._look(key)
            if found is None:
                # A thread holds a core before others wait for its result, and they wait without one: otherwise those
                # who wait might hold all the cores that it needs to go on.
                with one_core():
                    found = self._look(key, (subject, *others))
                    if found is None:
                        return self._make(key, make, getattr(subject, "model", None))
            try:
                if found.done():
                    value: Result = found.result()
                else:
                    with no_core():
                        value = found.result()
            except CancelledError:
                continue  # the thread that was making the result was stopped or has failed, so try again
            return value

    def _look(self, key: _Key, begin_for: Sequence[object] = ()) -> Future[Any] | None:
        """Return the result, finished or being made.

        Returns None if no thread has begun it: with the objects in ``begin_for``, the caller must make it.
        """
        with self._lock:
            self._forget_gone()
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
                there: Future[Any] = Future()
                there.set_result(kept.value)
                return there
            coming = self._making.get(key)
            if coming is None and begin_for:
                self._making[key] = Future()
                for each in begin_for:
                    if id(each) not in self._keys:
                        self._keys[id(each)] = set()
                        weakref.finalize(each, self._gone.append, id(each))
            return coming

    def _make(self, key: _Key, make: Callable[[], Result], held: object) -> Result:
        promise, made = self._making[key], False
        try:
            value = make()
            size, made = size_of(value, held) + size_of(key), True
        finally:
            if not made:
                with self._lock:
                    del self._making[key]
                promise.cancel()
        with self._lock:
            del self._making[key]
            if size <= self._room or self._at_least:
                self._keep(key, _Kept(value, size))
                while self._used > self._room and len(self._kept) > self._at_least:
                    self._drop(next(iter(self._kept)))
        promise.set_result(value)
        return value

    def _keep(self, key: _Key, kept: _Kept) -> None:
        """Keep a result, unless an object of its key has gone while it was made; the caller must hold the lock."""
        addresses = list(_addresses(key))
        if all(each in self._keys for each in addresses):
            for each in addresses:
                self._keys[each].add(key)
            self._kept[key] = kept
            self._used += kept.bytes

    def _drop(self, key: _Key) -> None:
        self._used -= self._kept.pop(key).bytes
        for each in _addresses(key):
            if each in self._keys:
                self._keys[each].discard(key)

    def _forget_gone(self) -> None:
        while self._gone:
            for key in self._keys.pop(self._gone.popleft(), ()):
                if key in self._kept:
                    self._drop(key)


def _without_objects(asked: Any, found: list[object]) -> Hashable:
    """Return a key in which a :class:`_Same` takes the place of each object that equals only itself, as models do.

    These objects are added to ``found``.
    """
    kind: Any = type(asked)
    if kind.__weakrefoffset__ and (kind.__hash__ is object.__hash__ or hasattr(kind, "nbytes")):
        found.append(asked)
        return _Same(id(asked))
    if kind is tuple:
        return tuple(_without_objects(each, found) for each in asked)
    if is_dataclass(asked) and not isinstance(asked, type):
        before = len(found)
        inside = tuple(_without_objects(getattr(asked, each.name), found) for each in fields(asked) if each.compare)
        asked = asked if len(found) == before else (kind, inside)
    value: Hashable = asked
    return value


def _addresses(key: object) -> Iterator[int]:
    """Yield the address of each object whose place is taken in a key."""
    if isinstance(key, _Same):
        yield key.address
    elif isinstance(key, tuple):
        for each in key:
            yield from _addresses(each)


_MEMO = Memo(ROOM)


def kept(subject: object, asked: Hashable, make: Callable[[], Result]) -> Result:
    """The result of ``make()`` for ``subject`` and ``asked``, computed once; for code that :func:`once` cannot wrap."""
    return _MEMO.get(subject, asked, make)


def once(function: Callable[Concatenate[Subject, Rest], Result]) -> Callable[Concatenate[Subject, Rest], Result]:
    """Compute ``function(trace, …)`` once for each trace and each set of further arguments.

    The first argument is a trace or a model; the others must be hashable. All callers share the result, so
    they must not change it. One core is held during the computation.

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
