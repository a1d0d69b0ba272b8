"""The three kinds of drawing in a kept file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Live:
    """A hand-written component.

    Attributes
    ----------
    name
        The component's file in :mod:`lab.charts.components`.
    payloads
        Its data, one block for each of its states; it begins with the first.
    moves
        For a state, the states to which a click leads, by what the component reports, as JSON without its first part.
    titled
        Whether the component writes the figure's name itself.
    """

    name: str
    payloads: Sequence[bytes] = field(repr=False)
    moves: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    titled: bool = False


@dataclass(frozen=True)
class Chart:
    """A Vega-Lite chart: its specification with the numbers, and its most pixels across."""

    spec: Mapping[str, Any]
    width: int | Literal["stretch"]


@dataclass(frozen=True)
class StillPicture:
    """A picture, as SVG."""

    svg: str


Drawing = Live | Chart | StillPicture
