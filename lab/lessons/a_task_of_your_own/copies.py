"""Models whose last layer was trained here: few, bounded for the whole server, and gone with their visitors.

Visitors who train the same model on the same sentences share one copy. Its layer takes megabytes. When newer layers
need room, the visitor with the most layers gives one up. The results that the pages have shown take kilobytes, and stay
as long as a visit holds the copy.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from lab.analysis.tasks.tuning import Tuned

# The most bytes of all trained layers on a server: a layer of lab-minilm takes 7 MB, one of bert-base 28 MB.
ROOM = 60_000_000
_MOST_FOUND = 12  # results that are kept with a copy
Result = TypeVar("Result")


@dataclass(eq=False)
class Copy:
    """The place of a trained layer, and the results that were computed with it.

    ``tuned`` is None before the training, and after newer layers took its room: then ``had_to_go`` is true. ``whose``
    is the visitor who has trained it.
    """

    of: Hashable
    whose: Hashable = None
    tuned: Tuned | None = None
    had_to_go: bool = False
    _found: OrderedDict[Hashable, Any] = field(default_factory=OrderedDict)

    def result(self, asked: Hashable, make: Callable[[Tuned], Result]) -> Result | None:
        """Return ``make(tuned)``, computed once for ``asked``; None if it is not known and there is no layer now."""
        tuned = self.tuned
        with _LOCK:
            if asked in self._found:
                self._found.move_to_end(asked)
                there: Result = self._found[asked]
                return there
        if tuned is None:
            return None
        made = make(tuned)
        with _LOCK:
            self._found[asked] = made
            while len(self._found) > _MOST_FOUND:
                self._found.popitem(last=False)
        return made


_COPIES: WeakValueDictionary[Hashable, Copy] = WeakValueDictionary()
_LOCK = threading.Lock()


def copy_of(key: Hashable) -> Copy:
    """Return the copy for this model and these sentences, which all visitors share; whoever holds it keeps it."""
    with _LOCK:
        found = _COPIES.get(key)
        if found is None:
            found = _COPIES[key] = Copy(key)
        return found


def keep(copy: Copy, tuned: Tuned, whose: Hashable = None) -> None:
    """Put a trained layer into its place.

    Until there is room for all, the visitor with the most layers loses the oldest one.
    """
    with _LOCK:
        copy.tuned, copy.whose, copy.had_to_go = tuned, whose, False
        _COPIES.pop(copy.of, None)
        _COPIES[copy.of] = copy  # the newest comes last
        there = {each: each.tuned.nbytes for each in _COPIES.values() if each.tuned is not None}
        while sum(there.values()) > ROOM and len(there) > 1:
            held = Counter(each.whose for each in there)
            goes = max((each for each in there if each is not copy), key=lambda each: held[each.whose])
            goes.tuned, goes.had_to_go = None, True
            del there[goes]
