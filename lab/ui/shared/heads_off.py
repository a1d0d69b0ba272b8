"""Heads switched off: the question to the model, and whether memory and time suffice to switch off all heads in
turn."""

from __future__ import annotations

import streamlit as st

from lab.analysis.heads import switched_off
from lab.course.words import listed, named
from lab.models.trace import Trace
from lab.ui.parameters import MODE, TOY
from lab.ui.shared.one_head import OneHead, show_sentence
from lab.ui.shared.prediction import PredictionView, cannot_predict, look

# Upper limit for the numbers in the vectors of all runs together; 160 MB.
_NUMBERS = 40_000_000
# The most multiplications that run without a button, and the multiplications per second of a core of a small server.
_UNASKED, _A_SECOND = 3e10, 5e9


def ask(view: OneHead, *, first: bool) -> PredictionView | None:
    """Draw the learner's sentence and return the place asked about.

    ``first`` is True in the step where the learner hides words, and sees where the head looks from there.
    None if nothing is hidden, or, with the reason on the page, if the model predicts no words.
    """
    page, trace = view.page, view.trace
    reason = cannot_predict(trace.model)
    if page.selection[MODE] == TOY and (reason or not trace.model.config.causal):
        show_sentence(view)
        st.info("In this toy, no word is hidden, so the figure shows how its vectors move.", icon=":material/info:")
    elif reason:
        show_sentence(view)
        st.info(f"{reason} So the figure shows how its vectors move.", icon=":material/info:")
    else:
        st.markdown(_asking(trace, first=first))
        asked = look(page, trace, (view.layer.index, view.head) if first else None)
        if asked is not None and asked.chosen and not first:
            places = listed([named(trace, place) for place in asked.chosen])
            st.markdown(f"In this step, {places} {'is' if len(asked.chosen) == 1 else 'are'} hidden.")
        return asked
    return None


def _asking(trace: Trace, *, first: bool) -> str:
    """Describe the model's task, which it does once with a head and once without it."""
    if trace.model.config.causal:
        return "The model says which token comes next, with the head and without it."
    hide = "Hide a word. The" if first else "The"
    return f"{hide} model says which word belongs in the blank, with the head and without it."


def may_run(trace: Trace) -> bool:
    """Return whether every head may be switched off in turn; if not, draw the reason, or a button that allows it."""
    config, n, most = trace.model.config, len(trace), switched_off.longest(trace.model.config, _NUMBERS)
    if n > most:
        st.info(
            f"The memory of this server is too small for {config.layers * config.heads} runs of {n} tokens. Shorten "
            f"the text to {most} tokens or fewer.",
            icon=":material/content_cut:",
        )
        return False
    told = f"{config.layers * config.heads} heads, one run each over {n} tokens"
    return asked_for(switched_off.multiplications(config, n), _UNASKED, told, f"{hash(trace.token_ids)}.{config}")


def asked_for(work: float, unasked: float, told: str, name: str) -> bool:
    """Return whether ``work``, in multiplications, may run: it is short, or somebody has asked for it.

    If not, draw ``told`` with the time that the work takes, and a button that starts the work. ``name`` identifies the
    work.
    """
    key = f"_each.{name}"
    if work <= unasked or st.session_state.get(key):
        return True
    st.markdown(f"{told}: about {work / _A_SECOND:.0f} seconds.")
    st.button("Switch off each head", icon=":material/play_arrow:", on_click=_allow, args=(key,))
    return False


def _allow(name: str) -> None:
    st.session_state[name] = True
