"""Likelihood: how probable the model finds the whole text, token by token."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from lab.analysis.words import likelihood
from lab.analysis.words.likelihood import Likelihood, Scoring, TokenScore
from lab.analysis.words.predictions import word_of
from lab.course.words import in_tex, number_of, quoted, share, signed
from lab.lessons.masked_language_model import figures
from lab.lessons.masked_language_model.tries import show_two_words_swapped
from lab.models.batches import ProgressFunction
from lab.models.trace import Trace
from lab.ui import sidebar
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning
from lab.ui.long_work import offer, serial_of
from lab.ui.parameters import PROBABILITY, SCORE
from lab.ui.tables import show_table
from lab.ui.terms import say

UNASKED_UP_TO = 48  # the most tokens that are scored without a click; hiding more of them one by one takes seconds
_UNIT = "The nearer a logarithm is to 0, the more probable the token is. For example, ln P = −1 means P ≈ 0.37."
_ROWS = 24  # rows of a table that is shown whole; a longer table scrolls


def unsure(found: Likelihood, causal: bool) -> str:
    """Put a perplexity into plain words: the number of equally likely words that would make the model as unsure."""
    name, at = ("perplexity", "before a token") if causal else ("pseudo-perplexity", "at a hidden token")
    return (
        f"The {name} is **{found.perplexity:,.1f}**: on average, the model is as unsure {at} as if it chose among "
        f"{found.perplexity:,.1f} {'tokens' if causal else 'words'} that are equally probable."
    )


def show(trace: Trace) -> Trace:
    """Show the (pseudo-)log-likelihood of the text: its meaning, its sum, and the part of each token."""
    _show_likelihood(trace)
    return trace


def _show_likelihood(trace: Trace) -> None:
    places = likelihood.scored_places(trace.model, trace.encoding)
    say(_what(trace, len(places)))
    if not places:
        st.info("There is no token to score here. Write a longer text.", icon=":material/edit:")
        return
    found = _show_found(trace, len(places))
    if found is None:
        return
    if not found.finished:
        n = len(found.scores)
        st.warning(
            f"So far, the lab has scored the first {n} of {number_of(found.wanted, 'token')}. All numbers below are "
            "only about what is scored.",
            icon=":material/hourglass_top:",
        )
    _show_tokens(trace, found)
    meaning(unsure(found, trace.model.config.causal))
    _show_limits(trace, found)
    show_two_words_swapped(trace)
    with sidebar.controls():
        SCORE.choose("Bars")
    with st.expander("The sum, written out", icon=":material/function:", on_change="rerun", key="_sum_of_logs") as sums:
        if sums.open:
            _show_sum(found)
    with st.expander("Every token", icon=":material/table_rows:", on_change="rerun", key="_scores") as scores:
        if scores.open:
            _show_table(trace, found)
    code(likelihood.likelihood, Likelihood)


def _what(trace: Trace, count: int) -> str:
    """Explain the sum for a model that reads from left to right, or in both directions."""
    name = quoted(trace.model.id)
    if trace.model.config.causal:
        return (
            f"How probable does {name} find your text? It gives every token but the first a probability, based on the "
            f"tokens before it. The logarithms of these probabilities add up to the **log-likelihood**. {_UNIT}"
        )
    copies = "a copy" if count == 1 else f"each of {count:,} copies"
    return (
        f"How probable does {name} find your text? The model reads in both directions, so you hide one token in "
        f"{copies} of the text, and ask for this token. The logarithms of these probabilities add up to "
        f"the **pseudo-log-likelihood**. {_UNIT}"
    )


def _quick(trace: Trace, count: int) -> bool:
    return trace.model.config.causal or count <= UNASKED_UP_TO


def _show_scoring(trace: Trace, scoring: Scoring) -> None:
    with st.spinner("Scoring the tokens …"):
        while not scoring.finished:
            scoring.step(trace)


def _show_found(trace: Trace, count: int) -> Likelihood | None:
    """Return the likelihood of the tokens scored so far; a long text is scored at a click."""
    scoring = likelihood.scoring(trace)
    if scoring.finished:
        return scoring.latest
    if _quick(trace, count):
        _show_scoring(trace, scoring)
    else:
        done = len(scoring.latest.scores) if scoring.latest else 0
        label = f"Go on: {done} of {count} tokens are scored" if done else f"Score {number_of(count, 'token')}"
        offer(("likelihood", serial_of(scoring)), label, partial(_score_all, trace, scoring))
    return scoring.latest


def _score_all(trace: Trace, scoring: Scoring, tell: ProgressFunction) -> None:
    """Score the tokens that are missing, and report the progress after each batch."""
    while not scoring.finished:
        scoring.step(trace)
        tell(0.0 if scoring.latest is None else scoring.latest.done)


def _named(trace: Trace, score: TokenScore) -> str:
    return f"{quoted(word_of(trace.model.tokenizer, score.token_id))} ({score.place + 1})"


def _show_sum(found: Likelihood) -> None:
    kind = "Pseudo-log-likelihood" if found.pseudo else "Log-likelihood"
    perplexity = "pseudo-perplexity" if found.pseudo else "perplexity"
    n = len(found.scores)
    left, middle, right = st.columns(3)
    left.metric(f"{kind}, nats", signed(found.total), border=True)
    middle.metric(f"Mean of {number_of(n, 'token')}, nats", signed(found.mean, 3), border=True)
    right.metric(perplexity.capitalize(), f"{found.perplexity:,.1f}", border=True)
    given = r"\text{all others}" if found.pseudo else r"t_1 \dots t_{i-1}"
    value = in_tex(found.perplexity, 4)
    st.latex(
        rf"\begin{{aligned}} \text{{{perplexity}}} &= e^{{-\frac{{1}}{{n}} \sum_i \ln P(t_i \mid {given})}} \\"
        rf"&= e^{{-({found.total:.2f}) / {n}}} = e^{{{-found.mean:.3f}}} \\ &= {value} \end{{aligned}}"
    )


def _show_tokens(trace: Trace, found: Likelihood) -> None:
    """Draw the part of each token, and name the token with the smallest probability."""
    by_share = SCORE.chosen() == PROBABILITY
    count = None if found.finished else len(found.scores)
    draw(partial(figures.token_scores, trace, by_share, count), "token-scores")
    worst = min(found.scores, key=lambda score: score.log_probability)
    first = word_of(trace.model.tokenizer, worst.best)
    st.caption(
        f"{_named(trace, worst)} has the smallest probability, {share(worst.probability)}. "
        + (
            "This token is still the model’s first choice."
            if worst.rank == 1
            else f"The model expected {quoted(first)}."
        )
    )


def _show_table(trace: Trace, found: Likelihood) -> None:
    tokenizer = trace.model.tokenizer
    table = pd.DataFrame(
        {
            "number": [score.place + 1 for score in found.scores],
            "token": [word_of(tokenizer, score.token_id) for score in found.scores],
            "ln P": [score.log_probability for score in found.scores],
            "probability": [score.probability for score in found.scores],
            "rank": [score.rank for score in found.scores],
            "first choice": [word_of(tokenizer, score.best) for score in found.scores],
        }
    )
    formats = {"ln P": "%.3f", "probability": "%.4g"}
    show_table(table, formats=formats)


def _show_limits(trace: Trace, found: Likelihood) -> None:
    """Say with which other numbers this likelihood can be compared."""
    if not found.pseudo:
        vocabulary = f"{trace.model.config.vocabulary:,}"
        st.caption(
            "The first token has nothing before it, so it is not scored. For a model that knows nothing, the "
            f"perplexity would be {vocabulary}, the number of tokens in its vocabulary."
        )
        return
    st.caption(
        "Compare texts only within one model, never with the perplexity of a model that reads from left to right. A "
        "word in several pieces seems too probable, because each piece sees the other pieces (Salazar et al. 2020)."
    )
