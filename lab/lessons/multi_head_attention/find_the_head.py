"""Find the head: the maps of all heads of a layer, and a head that the learner looks for."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads.comparing import block_size
from lab.course.words import head_name
from lab.figures import attention
from lab.lessons.multi_head_attention import MAPS
from lab.models.interventions import Head
from lab.models.trace import Trace
from lab.ui.drawing import code, draw
from lab.ui.parameters import HEAD, LAYER
from lab.ui.screen import say
from lab.ui.shared.one_head import OneHead
from lab.ui.taking import tell

IDEA = """
**Find a head in which the tokens give the token just before them {least:.2f} or more**, on average. Where in a map
would that be? Here are the maps of all heads of layer {layer}; choose another layer in the sidebar, and click a
map."""
TOLD = "In {head}, a token gives the token before it {score:.2f} of its attention, on average over all but the first."
FOUND = "{told} So a token that looks there can learn from it which word comes before."
BY_LEARNER = "**Found.** "
NOBODY = "{told} **No head of this model does more than {most:.2f} here.**"
BLOCKS = "The text has {n} tokens, so each cell shows the largest weight of a block of {block} × {block}."
_SHOWN = "_target_shown"  # the head that the lab has shown
LOOKS_BACK = 0.5  # a head that gives the token before at least this share, on average, is found


def show(view: OneHead) -> None:
    """Show the maps of a layer, and say whether the chosen head is the one that was wanted."""
    trace = view.trace
    say(IDEA.format(least=LOOKS_BACK, layer=view.layer.index + 1))
    found, told = verdict(trace, (view.layer.index, view.head))
    with st.container(border=True, key="verdict", horizontal=True, vertical_alignment="center"):
        by_learner = found and st.session_state.get(_SHOWN) != (view.layer.index, view.head)
        say(f":material/{'check' if found else 'search'}: {BY_LEARNER * by_learner}{told}")
        scores = one_back(trace)
        if not found and scores.max() >= LOOKS_BACK:
            best = np.unravel_index(int(scores.argmax()), scores.shape)
            st.button("Show me", key="_show_target", type="tertiary", on_click=_choose, args=best)
    call = partial(attention.all_heads, trace, view.layer.index, view.head, view.query)
    draw(call, MAPS, clickable=True)
    tell(told)
    if (block := block_size(len(trace), attention.CELLS)) > 1:
        st.caption(BLOCKS.format(n=len(trace), block=block))
    code(one_back)


def one_back(trace: Trace) -> np.ndarray:
    """Return the share that each head gives to the token just before, (L, H): a mean over all tokens but the first."""
    maps = (trace.layer(at).attention for at in range(trace.model.config.layers))
    return np.array([each.diagonal(offset=-1, dim1=-2, dim2=-1).mean(-1).numpy() for each in maps], dtype=np.float64)


def verdict(trace: Trace, head: Head) -> tuple[bool, str]:
    """Return whether a head looks one token back, and a sentence about it, which also says if no head does."""
    scores = one_back(trace)
    told, most = TOLD.format(head=head_name(head), score=float(scores[head])), float(scores.max())
    if most < LOOKS_BACK:
        return False, NOBODY.format(told=told, most=most)
    found = bool(scores[head] >= LOOKS_BACK)
    return found, FOUND.format(told=told) if found else told


def _choose(layer: int, head: int) -> None:
    st.session_state[_SHOWN] = int(layer), int(head)
    LAYER.set(int(layer) + 1)
    HEAD.set(int(head) + 1)
