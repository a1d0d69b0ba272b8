"""An entry of one of the lab's lists, such as ``METRICS``, by its id: its place in the list may change."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar


class HasId(Protocol):
    @property
    def id(self) -> str: ...


Entry = TypeVar("Entry", bound=HasId)


def by_id(entries: Iterable[Entry], id: str) -> Entry:
    return {each.id: each for each in entries}[id]
