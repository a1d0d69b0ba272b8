"""Writing on: GPT-2 draws one token, appends it, and asks again; what leaves tokens out; how BERT differs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import pandas as pd
import streamlit as st

from lab.analysis.words import sampling
from lab.analysis.words.predictions import Prediction, next_prediction, prediction_at, word_of
from lab.analysis.words.sampling import Sampling, SamplingSettings, begun
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.base.labels import visible
from lab.charts.marks.bars import bars
from lab.course.words import escaped, named, quoted, share
from lab.lessons.masked_language_model import LESSON
from lab.lessons.masked_language_model.view import choose_temperature, show_numbers
from lab.models.encoding import Encoding
from lab.models.loading import LoadedModel
from lab.models.memo import kept
from lab.models.trace import Trace, trace_encoding
from lab.questions.asking import asks
from lab.questions.basis import derivable
from lab.questions.kinds import which_holds
from lab.questions.question import MARGIN, Question
from lab.questions.returning import Spot
from lab.ui import sidebar
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.parameters import DRAW_SEED, EVERY_WORD, TEMPERATURE, TOP_K, TOP_P
from lab.ui.quiz.predictions import ask_beside
from lab.ui.shared import masking
from lab.ui.shared.prediction import PredictionView
from lab.ui.terms import say

_BARS = 12
_FIRST = 6  # number of first ranks that the table always has
_MOST = 40  # the most tokens that are drawn after one text
_WRITTEN = "_written"  # session key: the text, its settings, and the number of tokens drawn after it

_BESIDE = """
| | BERT fills blanks | GPT-2 writes on |
|:--|:--|:--|
| It reads | the words on both sides of a blank | only the tokens before |
| It learned from | hidden words | each next token |
| After the last layer | dense, GELU, LayerNorm; then every word | LayerNorm; then every token |
| Its special tokens | [CLS], [SEP], [MASK] | a sign for the end of a text |
| Segments | two, because it learned from pairs of texts | none: it learned from one text after the other |
| People use it to | sort texts, find texts, mark names in texts | write |
"""
_CHAT = (
    "**A chat model** is such a model, but thousands of times as large, and it has read far more. Then people showed "
    "it good answers, and told it which of two answers they preferred. Training changed its weights until it gave "
    "more answers of this kind (Ouyang et al. 2022). It still does what you see here: your question and its answer "
    "are one text, and the model continues this text token by token."
)


@dataclass(frozen=True, eq=False)
class Written:
    """A text that is written on: the tokens drawn so far, and the distribution of the token after them.

    ``drawn`` is the text of the tokens drawn so far. ``found`` and ``prediction`` are about the next token.
    ``over``: the model drew the sign for the end of the text, or it can read no more tokens.
    """

    drawn: str
    prediction: Prediction
    found: Sampling
    number: float
    over: bool


def written(trace: Trace, place: int, count: int, settings: SamplingSettings, seed: int) -> Written:
    """Draw ``count`` tokens after token ``place`` (from 0), and look at the token after them."""
    start = begun(trace.encoding, place + 1)
    steps = list(sampling.continue_text(trace.model, start, count + 1, settings, seed))
    done, over = steps[:count], len(steps) <= count
    prediction = _prediction(trace.model, done[-1].encoding if done else start)
    number = 0.0 if over else steps[count].number
    return Written(done[-1].drawn if done else "", prediction, sampling.sample(prediction, settings), number, over)


def _prediction(model: LoadedModel, encoding: Encoding) -> Prediction:
    run = trace_encoding(model, encoding)
    return next_prediction(run, len(run) - 1)


def can_be_drawn(found: Sampling, first: str) -> str:
    """Say how many tokens can still be drawn, and which share the likeliest token, ``first``, has now."""
    left, total, best = len(found.kept), len(found.order), found.order[0]
    before, after = share(float(found.probabilities[best])), share(float(found.shares[best]))
    if left == total:
        return (
            f"No token is left out: each of the {total:,} tokens can be drawn. The model draws {first} in "
            f"**{before}** of all draws."
        )
    if left == 1:
        return f"Only {first} can be drawn, so every seed draws it."
    return (
        f"**{left:,}** of {total:,} tokens can still be drawn. They share the probability of the other tokens: {first} "
        f"goes from {before} to {after}."
    )


@asks(
    "token",
    basis=derivable(LESSON, "from-vector-to-word", "softmax depends only on the gaps between logits"),
    hint="Every logit is divided by 0.5. What happens to the gap between the first and the second?",
)
def colder(spot: Spot) -> Question | None:
    """Ask what half the temperature does to the most probable token; None if the change can hardly be seen."""
    if not spot.trace.model.config.causal:
        return None
    prediction = prediction_at(spot.trace, spot.query, None)
    best = int(prediction.best(1)[0])
    before, after = (float(prediction.at(heat).probabilities[best]) for heat in (1.0, 0.5))
    if after - before <= MARGIN:
        return None
    word = quoted(word_of(spot.trace.model.tokenizer, best))
    why = (
        f"It goes from {share(before)} to {share(after)}. Every gap between two logits is twice as large, so the "
        "first token leads by more. The order of the tokens stays the same."
    )
    prompt = (
        f"After {named(spot.trace, spot.query)}, {word} is the most probable token, with {share(before)}. Temperature "
        "0.5 divides every logit by 0.5 before softmax. What happens to this probability?"
    )
    outcomes = {
        "It rises": True,
        "It stays the same, because the order of the tokens stays the same": False,
        "It falls to one half": False,
    }
    return which_holds("colder", prompt, why, outcomes, mixed=True)


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


def show(view: PredictionView) -> Trace:
    """Write on, token by token, with temperature, top-k and top-p; then set BERT and GPT-2 side by side."""
    trace, settings, seed = view.trace, _chosen_settings(), DRAW_SEED.chosen()
    say(
        f"Here, {quoted(trace.model.id)} writes. It reads from left to right and learned to predict each next token. "
        "It draws a token from its probabilities, appends it, and reads the longer text again: **one token after the "
        "other**. Press **Next token** several times."
    )
    count = _choose_count((trace.model.id, trace.token_ids, view.place, settings, seed))
    given = (view.place, count, settings, seed)
    now = _written(trace, *given)
    _show_text(view, now)
    st.caption(
        "Top-k keeps the k most probable tokens. Top-p keeps the fewest tokens that together have the probability p. A "
        "temperature below 1 makes the gaps between the logits larger. You can set all three in the sidebar."
    )
    draw(partial(shares, trace, *given), "shares")
    meaning(can_be_drawn(now.found, quoted(word_of(trace.model.tokenizer, int(now.found.kept[0])))))
    _show_controls()
    ask_beside(LESSON, colder(Spot(trace, 0, 0, view.place, view.place)))
    why = "keep only the most probable tokens that together have a probability of one half. How many tokens are left?"
    try_this(why, "Top-p 0.5", {TOP_K: EVERY_WORD, TOP_P: "0.5"})
    with st.expander("Where BERT differs, and what a chat model adds", icon=":material/compare:", expanded=True):
        say(_BESIDE)
        say(_CHAT)
    with st.expander("What each step removes", icon=":material/table:", on_change="rerun", key="_removed") as removed:
        if removed.open:
            _show_draw(trace, now, seed)
            _show_removed(trace, now.prediction, now.found, settings)
    code(sampling.sample, sampling.continue_text, Sampling.drawn)
    return trace


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


def _show_text(view: PredictionView, now: Written) -> None:
    """Show the end of the text that is read, and after it, bold, the tokens that were drawn."""
    drawn = escaped(visible(now.drawn.removeprefix(" "), limit=None)) if now.drawn.strip(" ") else ""
    space = " " if now.drawn.startswith(" ") else ""
    text = masking.reading(view.trace, view.place, until=view.place)
    st.markdown(f"{text}{space}**\u2068{drawn}\u2069**" if drawn else f"{text} …")
    if now.over:
        st.caption(
            "The text ends here, because the model drew the sign for the end, or because it can read no more tokens."
        )


def _chosen_settings() -> SamplingSettings:
    """The settings of the controls, which are all in the URL."""
    words = TOP_K.chosen()
    return SamplingSettings(TEMPERATURE.chosen(), None if words == EVERY_WORD else int(words), float(TOP_P.chosen()))


def _show_controls() -> None:
    with sidebar.controls():
        choose_temperature()
        TOP_K.choose("Top-k")
        TOP_P.choose("Top-p")
        DRAW_SEED.choose("Seed of the draws")


def _show_draw(trace: Trace, now: Written, seed: int) -> None:
    """Say into which share the random number of the next token falls."""
    if now.over:
        return
    token_id = now.found.drawn(now.number)
    start, end = now.found.span(token_id)
    say(
        "Imagine the shares laid end to end, with the largest first. "
        f"{quoted(word_of(trace.model.tokenizer, token_id))} reaches from {start:.4f} to {end:.4f}. Seed {seed} gives "
        f"the random number **{now.number:.4f}**, so this token is next."
    )


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
    say("These are the most probable tokens, and the tokens at the borders of top-p and top-k:")
    small = dict.fromkeys(("probability", f"at T = {settings.temperature:g}", "share"), "%.4g")
    show_numbers(table, rank="%d", **small)
    left = pd.DataFrame(
        {
            "after": ["softmax at T", "top-k", "top-p"],
            "tokens left": [len(found.order), int(found.by_top_k.sum()), len(found.kept)],
            "probability they hold": [1.0, found.mass_by_top_k, found.mass_by_top_p],
        }
    )
    say("This is the rest of the vocabulary after each step:")
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
