"""What the neuron view computes over whole maps, once for all sessions; see :mod:`lab.ui.cached.runs`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import streamlit as st

from lab.ui.cached import tags as cached_tags
from lab.ui.cached.runs import TURNS, identity

if TYPE_CHECKING:
    from lab.analysis.heads.named import Chance
    from lab.analysis.heads.neurons import Decision, Kept, Walk
    from lab.analysis.heads.pattern import OwnPattern
    from lab.analysis.heads.patterns import Pattern, Patterns
    from lab.models.trace import Trace


def _run(traced: Trace) -> Hashable:
    """Upper and lower case are the same tokens, but not always the same words."""
    return identity(traced), traced.text, traced.pair


def decision(traced: Trace, at: tuple[int, int], pattern: str) -> Decision | None:
    """Which dimensions of head ``at`` make the pattern; see :func:`lab.analysis.heads.neurons.decide`."""
    return _decision(traced, _run(traced), at, pattern)


@st.cache_resource(max_entries=64, show_spinner=False)
def _decision(_traced: Trace, run: Hashable, at: tuple[int, int], pattern: str) -> Decision | None:
    from lab.analysis.heads.neurons import decide

    with TURNS:
        return decide(_traced, *at, pattern)


def kept(traced: Trace, at: tuple[int, int], pattern: str, found: Decision, count: int) -> Kept:
    """The pattern's score with fewer dimensions, in the order of ``found``, which is of the same head and pattern."""
    return _kept(traced, found, _run(traced), at, pattern, count)


@st.cache_resource(max_entries=64, show_spinner=False)
def _kept(
    _traced: Trace, _found: Decision, run: Hashable, at: tuple[int, int], pattern: str, count: int
) -> Kept:  # fmt: skip
    from lab.analysis.heads.neurons import kept_scores

    with TURNS:
        return kept_scores(_traced, at, pattern, _found.order.tolist(), count)


def walk(traced: Trace, pattern: Pattern) -> Walk | None:
    """The pattern on the head that shows it best; see :func:`lab.analysis.heads.neurons.walk`."""
    found = cached_tags.patterns(traced), cached_tags.chance(traced)
    return _walk(traced, found, pattern, _run(traced), pattern.id)


@st.cache_resource(max_entries=64, show_spinner=False)
def _walk(
    _traced: Trace, _found: tuple[Patterns, Chance], _pattern: Pattern, run: Hashable, pattern: str
) -> Walk | None:  # fmt: skip
    from lab.analysis.heads.neurons import walk

    with TURNS:
        return walk(_traced, _found[0], _pattern, _found[1])


def own_pattern(traced: Trace, at: tuple[int, int]) -> OwnPattern | None:
    """The pattern that head ``at`` shows most clearly; see :func:`lab.analysis.heads.pattern.own_pattern`."""
    return _own_pattern(traced, cached_tags.patterns(traced), _run(traced), at)


@st.cache_resource(max_entries=64, show_spinner=False)
def _own_pattern(_traced: Trace, _found: Patterns, run: Hashable, at: tuple[int, int]) -> OwnPattern | None:
    from lab.analysis.heads.pattern import own_pattern

    with TURNS:
        return own_pattern(_traced, _found, *at)
