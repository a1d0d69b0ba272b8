"""Models whose last layer was trained here: few, bounded for the whole server, and gone with their visitors.

Visitors who train the same model on the same sentences share one copy. A copy lives as long as a visit holds it, unless
newer copies need its room; then its visitors train again.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass
from weakref import WeakValueDictionary

from lab.analysis.tasks.tuning import Tuned

# The most bytes of all trained layers on a server: a layer of lab-minilm takes 7 MB, one of bert-base 28 MB.
ROOM = 60_000_000


@dataclass(eq=False)
class Copy:
    """The place of a trained model; ``tuned`` is None before the training, and after newer copies took its room."""

    of: Hashable
    tuned: Tuned | None = None


_COPIES: WeakValueDictionary[Hashable, Copy] = WeakValueDictionary()
_LOCK = threading.Lock()


def copy_of(key: Hashable) -> Copy:
    """Return the copy for this model and these sentences, which all visitors share; whoever holds it keeps it."""
    with _LOCK:
        found = _COPIES.get(key)
        if found is None:
            found = _COPIES[key] = Copy(key)
        return found


def keep(copy: Copy, tuned: Tuned) -> None:
    """Put a trained model into its place; the oldest other ones go if there is no room for all."""
    with _LOCK:
        copy.tuned = tuned
        _COPIES.pop(copy.of, None)
        _COPIES[copy.of] = copy  # the newest comes last
        every = [each for each in _COPIES.values() if each.tuned is not None]
        used = sum(each.tuned.nbytes for each in every if each.tuned is not None)
        for oldest in every:
            if used <= ROOM or oldest is copy:
                break
            used -= 0 if oldest.tuned is None else oldest.tuned.nbytes
            oldest.tuned = None
