"""The screen that draws the next token: temperature, top-k, top-p, and a text that the model continues."""

from __future__ import annotations

import time
from collections.abc import Hashable

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.words import sampling
from lab.analysis.words.predictions import Prediction, word_of
from lab.analysis.words.sampling import Sampling, SamplingSettings
from lab.charts.base.axes import Scale
from lab.charts.marks.bars import bars
from lab.course.words import escaped, quoted, share
from lab.lessons.masked_language_model.view import choose_temperature, show_numbers
from lab.models.trace import Trace
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.parameters import DRAW_SEED, EVERY_WORD, MORE, TEMPERATURE, TOP_K, TOP_P
from lab.ui.shared import masking
from lab.ui.shared.prediction import PredictionView
from lab.ui.terms import say

_BARS = 12
_FIRST = 6  # number of first ranks that the table always has
_SECONDS = 30.0  # seconds after which a continuation ends
_DRAWN = "_drawn"


def can_be_drawn(found: Sampling, first: str) -> str:
    """Say how many tokens can still be drawn, and which share the likeliest token, ``first``, has now."""
    kept, total, best = len(found.kept), len(found.order), found.order[0]
    before, after = share(float(found.probabilities[best])), share(float(found.shares[best]))
    if kept == total:
        return (
            f"Nothing is left out: each of the {total:,} tokens can be drawn. {first} comes up in **{before}** of all "
            "draws."
        )
    if kept == 1:
        return f"Only {first} can be drawn, so every seed draws it."
    return (
        f"**{kept:,}** of {total:,} tokens can still be drawn. They share the probability of the other tokens: {first} "
        f"goes from {before} to {after}."
    )


def show(view: PredictionView) -> Trace:
    """Show the tokens that can be drawn after a place, and the token that is drawn; then continue the text."""
    say(
        "The model gives probabilities. To write on, it must draw one token. **Top-k** and **top-p** leave out the "
        "less probable tokens first."
    )
    trace, prediction, settings = view.trace, view.prediction, _chosen()
    found, seed = sampling.sample(prediction, settings), DRAW_SEED.chosen()
    _show_draw(trace, found, seed)
    meaning(can_be_drawn(found, quoted(word_of(trace.model.tokenizer, int(found.order[0])))))
    _show_controls()
    why = "keep only the most probable tokens that together have one half. How many tokens are these?"
    try_this(why, "Top-p 0.5", {TOP_K: EVERY_WORD, TOP_P: "0.5"})
    _show_continuation(view, settings, seed)
    with st.expander("What each step removes", icon=":material/table:", on_change="rerun", key="_removed") as removed:
        if removed.open:
            _show_removed(trace, prediction, found, settings)
    code(sampling.sample, Sampling.drawn)
    return trace


def _chosen() -> SamplingSettings:
    """The settings of the controls, which are all in the URL."""
    words = TOP_K.chosen()
    return SamplingSettings(TEMPERATURE.chosen(), None if words == EVERY_WORD else int(words), float(TOP_P.chosen()))


def _show_controls() -> None:
    left, middle, right = st.columns(3)
    with left:
        choose_temperature()
    with middle:
        TOP_K.choose("Top-k")
    with right:
        TOP_P.choose("Top-p")
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    with left:
        DRAW_SEED.choose("Seed of the draw")
    right.button("Next seed", icon=":material/casino:", on_click=_choose_next_seed, key="_next_seed")


def _show_removed(trace: Trace, prediction: Prediction, found: Sampling, settings: SamplingSettings) -> None:
    """List the most probable tokens after each step, and how many tokens and how much probability are left."""
    tokenizer = trace.model.tokenizer
    ranks = _telling_ranks(found)
    shown = found.order[[rank - 1 for rank in ranks]]
    table = pd.DataFrame(
        {
            "rank": ranks,
            "token": [word_of(tokenizer, int(i)) for i in shown],
            "probability": prediction.probabilities[shown],
            f"at T = {settings.temperature:g}": found.probabilities[shown],
            "top-k": ["kept" if found.by_top_k[i] else "removed" for i in shown],
            "top-p": ["kept" if found.by_top_p[i] else "removed" for i in shown],
            "share": found.shares[shown],
        }
    )
    say("The most probable tokens, and those at the borders of top-p and top-k:")
    small = dict.fromkeys(("probability", f"at T = {settings.temperature:g}", "share"), "%.4g")
    show_numbers(table, rank="%d", **small)
    left = pd.DataFrame(
        {
            "after": ["softmax at T", "top-k", "top-p"],
            "tokens left": [len(found.order), int(found.by_top_k.sum()), len(found.kept)],
            "probability they hold": [1.0, found.mass_by_top_k, found.mass_by_top_p],
        }
    )
    say("The rest of the vocabulary after each step:")
    show_numbers(left, **{"tokens left": "%d"})
    say(
        f"The {len(found.kept):,} tokens that stay have a total probability of {share(found.mass_by_top_p)}. Each "
        "probability is divided by this sum, so they add up to 1."
    )


def _telling_ranks(found: Sampling) -> list[int]:
    """The first few ranks, and at each border the last rank that stays and the first that is removed."""
    borders = (len(found.kept), int(found.by_top_k.sum()))
    ranks = {*range(1, _FIRST + 1), *borders, *(border + 1 for border in borders)}
    return sorted(rank for rank in ranks if rank <= len(found.order))


def _choose_next_seed() -> None:
    now = DRAW_SEED.chosen()
    DRAW_SEED.set(now + 1 if now < DRAW_SEED.most else DRAW_SEED.least)


def _show_draw(trace: Trace, found: Sampling, seed: int) -> None:
    """Draw the shares of the tokens, and say into which share the random number falls."""
    tokenizer = trace.model.tokenizer
    number = float(np.random.default_rng(seed).random())
    token_id = found.drawn(number)
    start, end = found.span(token_id)
    shown = [int(i) for i in found.kept[:_BARS]]
    title = f"Shares of the {len(shown)} most probable tokens that stay"
    words, marked = [word_of(tokenizer, i) for i in shown], shown.index(token_id) if token_id in shown else None
    draw(bars(words, found.shares[shown], Scale("Share"), title=title, highlight=marked), "shares")
    say(
        f"Lay the shares end to end, the largest first. {quoted(word_of(tokenizer, token_id))} reaches from "
        f"{start:.4f} to {end:.4f}. Seed {seed} gives the random number **{number:.4f}**, so this token is drawn."
    )


def _show_continuation(view: PredictionView, settings: SamplingSettings, seed: int) -> None:
    """Show the text up to the token asked about, and the tokens drawn after it, one at a time."""
    read_so_far = view.place + 1
    room = view.model.config.max_tokens - read_so_far
    if room <= 0:
        told = f"The text fills all {read_so_far} tokens the model can read: nothing fits after it. Shorten it."
        st.info(told, icon=":material/content_cut:")
        return
    count = min(int(MORE.choose("Tokens to add")), room)
    wanted = (view.model.id, view.trace.token_ids, view.place, settings, seed, count)
    clicked = st.button(f"Continue the text by {count} tokens", icon=":material/edit_note:", key="_continue")
    place = st.empty()
    if clicked:
        _show_drawing(view, count, settings, seed, wanted)
    if st.session_state.get(_DRAWN, (None, ""))[0] == wanted:
        place.markdown(st.session_state[_DRAWN][1])


def _show_drawing(view: PredictionView, count: int, settings: SamplingSettings, seed: int, wanted: Hashable) -> None:
    """Draw token after token. If the page run ends early, the tokens drawn so far stay."""
    begun, line, trace = time.monotonic(), st.empty(), view.trace
    tokens = sampling.continue_text(trace.model, sampling.begun(trace.encoding, view.place + 1), count, settings, seed)
    for done, step in enumerate(tokens, start=1):
        told = f"{masking.reading(trace, view.place, until=view.place)} **\u2068{escaped(step.drawn)}\u2069**"
        ended = step.token_id == trace.model.tokenizer.token_to_id("<|endoftext|>")
        late = time.monotonic() - begun > _SECONDS
        told += f"  \n{done} tokens drawn with seed {seed}." + (" The last one ends the text." if ended else "")
        told += f" Drawing ended after {_SECONDS:.0f} s." if late and done < count else ""
        st.session_state[_DRAWN] = wanted, told
        line.markdown(told)
        if late:
            break
    line.empty()
