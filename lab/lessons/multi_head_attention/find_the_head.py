"""Find the head: the maps of all heads of a layer, and a head that the learner looks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st
from torch import Tensor

from lab.analysis.heads.comparing import block_size
from lab.course.sentences.looks import STORY_HEAD, is_story
from lab.course.words import head_name
from lab.figures import multi_head
from lab.lessons.multi_head_attention import MAPS
from lab.models.encoding import BLANK
from lab.models.interventions import Head
from lab.models.trace import Trace
from lab.ui.drawing import code, draw
from lab.ui.parameters import HEAD, LAYER
from lab.ui.shared.one_head import OneHead
from lab.ui.taking import tell
from lab.ui.terms import say

IDEA = """
Here are the maps of all heads of layer {layer}; choose another layer in the sidebar. A map with a clear line or
column is worth a click."""
FOUND = "**Found.** {told}"
NOT_YET = "**Not yet.** {told}"
NOBODY = "**No head here does this.** {told}"
BLOCKS = "The text has {n} tokens, so each cell shows the largest weight of a block of {block} × {block}."


@dataclass(frozen=True)
class Target:
    """A head that the learner looks for.

    Attributes
    ----------
    name, wanted
        The target in a few words, and what is wanted in a sentence.
    score
        For each head of a run, the number by which the lab judges it, (L, H).
    told
        What this number says of a head: a sentence with places for the head's name and the number.
    least
        The smallest number of a head that is what is wanted.
    """

    name: str
    wanted: str
    score: Callable[[Trace], np.ndarray]
    told: str
    least: float


def _before(trace: Trace) -> np.ndarray:
    """Return the share that each head gives to the token just before, (L, H): a mean over all tokens but the first."""
    return np.array(
        [layer.diagonal(offset=-1, dim1=-2, dim2=-1).mean(-1).numpy() for layer in _maps(trace)], dtype=np.float64
    )


def _at_france(trace: Trace) -> np.ndarray:
    """Return the share of the blank's attention that each head but the story's gives to *france*, (L, H)."""
    blank, country = trace.labels.index(BLANK), trace.labels.index("france")
    found = np.array([layer[:, blank, country].numpy() for layer in _maps(trace)], dtype=np.float64)
    found[STORY_HEAD] = 0
    return found


def _maps(trace: Trace) -> Iterator[Tensor]:
    return (trace.layer(at).attention for at in range(trace.model.config.layers))


ONE_BACK = Target(
    "One word back",
    "Find a head in which nearly every token looks at the token just before it. Where in a map is that?",
    _before,
    "In {head}, a token gives the token before it {score:.2f} of its attention, on average.",
    0.5,
)
AT_FRANCE = Target(
    "The other one at *france*",
    "6-4 looks from the blank at *france*. Find the other head that does.",
    _at_france,
    "From the blank, {head} gives *france* {score:.2f}; 6-4 itself does not count.",
    0.5,
)


def targets(trace: Trace) -> tuple[Target, ...]:
    """Return what can be looked for in a run; the second target is in the course's sentence only."""
    return (ONE_BACK, AT_FRANCE) if is_story(trace) else (ONE_BACK,)


def verdict(target: Target, trace: Trace, head: Head) -> tuple[bool, str]:
    """Return whether a head is what is wanted, and a sentence about it, which also says if no head is."""
    scores = target.score(trace)
    told = target.told.format(head=head_name(head), score=float(scores[head]))
    if scores.max() < target.least:
        return False, NOBODY.format(told=told)
    found = bool(scores[head] >= target.least)
    return found, (FOUND if found else NOT_YET).format(told=told)


def show(view: OneHead) -> None:
    """Show the maps of a layer, and say whether the chosen head is the one that was wanted."""
    offered = targets(view.trace)
    names = [target.name for target in offered]
    chosen = st.segmented_control("Find", names, default=names[0], required=True, key="_target")
    target = next((each for each in offered if each.name == chosen), offered[0])
    say(f"**{target.wanted}** {IDEA.format(layer=view.layer.index + 1)}")
    found, told = verdict(target, view.trace, (view.layer.index, view.head))
    with st.container(border=True, key="verdict", horizontal=True, vertical_alignment="center"):
        say(f":material/{'check' if found else 'search'}: {told}")
        if not found and target.score(view.trace).max() >= target.least:
            best = np.unravel_index(int(target.score(view.trace).argmax()), target.score(view.trace).shape)
            st.button("Show me", key="_show_target", type="tertiary", on_click=_choose, args=best)
    call = partial(multi_head.all_heads, view.trace, view.layer.index, view.head, view.query)
    draw(call, MAPS, clickable=True)
    tell(told)
    if (block := block_size(len(view.trace), multi_head.CELLS)) > 1:
        st.caption(BLOCKS.format(n=len(view.trace), block=block))
    code(multi_head.all_heads)


def _choose(layer: int, head: int) -> None:
    LAYER.set(int(layer) + 1)
    HEAD.set(int(head) + 1)
