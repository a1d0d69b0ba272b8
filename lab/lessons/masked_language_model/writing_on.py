"""Writing on: GPT-2 draws one token, appends it, and asks again; how BERT differs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import streamlit as st

from lab.analysis.words import sampling
from lab.analysis.words.predictions import next_prediction, word_of
from lab.analysis.words.sampling import Sampling, SamplingSettings, begun
from lab.charts.base.axes import Scale, visible
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.course.words import escaped, quoted
from lab.lessons.masked_language_model.view import choose_temperature
from lab.models.memo import kept
from lab.models.trace import Trace, trace_encoding
from lab.ui import sidebar
from lab.ui.drawing import code, draw
from lab.ui.parameters import DRAW_SEED, EVERY_WORD, TEMPERATURE, TOP_K, TOP_P
from lab.ui.screen import meaning, say
from lab.ui.shared import masking_controls
from lab.ui.shared.prediction import PredictionView

_BARS = 12
_MOST = 40  # the most tokens that are drawn after one text
_WRITTEN = "_written"  # session key: the text, its settings, and the number of tokens drawn after it

_TASK = (
    "{model} reads from left to right, and learned to say each next token. It draws a token from its probabilities, "
    "appends it, and reads the longer text again: **one token after the other**."
)
_SETTINGS = (
    "Top-k keeps the k most probable tokens, top-p the fewest that together have the probability p. A low temperature "
    "makes the gaps between logits larger."
)
READING = "{left:,} of {total:,} tokens can be drawn here. Most probable is {first}, with **{p:.2f}** of all draws."
_OVER = "The text ends here: the model drew the sign for the end, or it can read no more tokens."
_BESIDE = """
| | BERT fills blanks | GPT-2 writes on |
|:--|:--|:--|
| It reads | the words on both sides of a blank | only the tokens before |
| It learned from | hidden words | each next token |
| People use it to | sort, find and mark texts | write |
"""
_CHAT = """
A chat model is like GPT-2, but often hundreds of times as large. People showed it good answers and ranked answers of
its own, and training changed its weights (Ouyang et al. 2022). Still, it continues one text, token by token.
"""


def show(view: PredictionView) -> Trace:
    """Write on, token by token, with temperature, top-k and top-p; then set BERT and GPT-2 side by side."""
    trace, settings, seed = view.trace, _chosen_settings(), DRAW_SEED.chosen()
    say(_TASK.format(model=quoted(trace.model.id)))
    count = _choose_count((trace.model.id, trace.token_ids, view.place, settings, seed))
    given = (view.place, count, settings, seed)
    now = _written(trace, *given)
    _show_text(view, now)
    draw(partial(shares, trace, *given), "shares")
    meaning(drawn(trace, now.found))
    _show_controls()
    say(_BESIDE)
    with st.expander("The parts that a chat model adds", icon=":material/chat:"):
        say(_CHAT)
    code(sampling.sample, sampling.continue_text, Sampling.drawn)
    return trace


def _show_text(view: PredictionView, now: Written) -> None:
    """Show the end of the text that is read, and after it, bold, the tokens that were drawn."""
    drawn = escaped(visible(now.drawn.removeprefix(" "), limit=None)) if now.drawn.strip(" ") else ""
    space = " " if now.drawn.startswith(" ") else ""
    text = masking_controls.reading(view.trace, view.place, until=view.place)
    st.markdown(f"{text}{space}**\u2068{drawn}\u2069**" if drawn else f"{text} …")
    if now.over:
        st.caption(_OVER)


def _show_controls() -> None:
    with sidebar.controls():
        st.caption(_SETTINGS)
        choose_temperature()
        TOP_K.choose("Top-k")
        TOP_P.choose("Top-p")
        DRAW_SEED.choose("Seed of the draws")


@dataclass(frozen=True, eq=False)
class Written:
    """A text that is written on: the tokens drawn so far, and the distribution of the token after them.

    ``drawn`` is the text of the tokens drawn so far. ``found`` is about the next token.
    ``over``: the model drew the sign for the end of the text, or it can read no more tokens.
    """

    drawn: str
    found: Sampling
    over: bool


def written(trace: Trace, place: int, count: int, settings: SamplingSettings, seed: int) -> Written:
    """Draw ``count`` tokens after token ``place`` (from 0), and look at the token after them."""
    start = begun(trace.encoding, place + 1)
    steps = list(sampling.continue_text(trace.model, start, count + 1, settings, seed))
    done, over = steps[:count], len(steps) <= count
    run = trace_encoding(trace.model, done[-1].encoding if done else start)
    found = sampling.sample(next_prediction(run, len(run) - 1), settings)
    return Written(done[-1].drawn if done else "", found, over)


def _written(trace: Trace, place: int, count: int, settings: SamplingSettings, seed: int) -> Written:
    """:func:`written`, computed once for a run."""
    given = (place, count, settings, seed)
    return kept(trace, (written, *given), partial(written, trace, *given))


def shares(trace: Trace, place: int, count: int, settings: SamplingSettings, seed: int) -> Figure:
    """Draw the shares of the most probable tokens that can be drawn next, after ``count`` drawn ones."""
    found = _written(trace, place, count, settings, seed).found
    tokens = [word_of(trace.model.tokenizer, int(i)) for i in found.kept[:_BARS]]
    values = found.shares[found.kept[: len(tokens)]]
    title = f"The next token: shares of the {len(tokens)} most probable tokens that can be drawn"
    return bars(tokens, values, Scale("Share"), title=title)


def drawn(trace: Trace, found: Sampling) -> str:
    """Say how many tokens can be drawn, and the share of the most probable one."""
    first = int(found.kept[0])
    word, p = quoted(word_of(trace.model.tokenizer, first)), float(found.shares[first])
    return READING.format(left=len(found.kept), total=len(found.order), first=word, p=p)


def _choose_count(wanted: object) -> int:
    """Let the learner draw tokens; return how many are drawn after the text. Another text or setting begins anew."""
    before, count = st.session_state.get(_WRITTEN, (None, 0))
    count = count if before == wanted else 0

    def to(number: int) -> None:
        st.session_state[_WRITTEN] = wanted, min(number, _MOST)

    def other_seed() -> None:
        now = DRAW_SEED.chosen()
        DRAW_SEED.set(now + 1 if now < DRAW_SEED.most else DRAW_SEED.least)

    full = count >= _MOST
    with st.container(horizontal=True):
        st.button("Next token", key="_next_token", on_click=to, args=(count + 1,), disabled=full, type="primary")
        st.button("Ten more", key="_ten_more", on_click=to, args=(count + 10,), disabled=full)
        st.button("Begin again", key="_begin_again", on_click=to, args=(0,), disabled=not count, type="tertiary")
        st.button("Other draws", icon=":material/casino:", key="_next_seed", on_click=other_seed, type="tertiary")
    return count


def _chosen_settings() -> SamplingSettings:
    """The settings of the controls, which are all in the URL."""
    words = TOP_K.chosen()
    return SamplingSettings(TEMPERATURE.chosen(), None if words == EVERY_WORD else int(words), float(TOP_P.chosen()))
