"""Likelihood: how probable the model finds the whole text, token by token."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.words import text_likelihood
from lab.analysis.words.predictions import word_of
from lab.analysis.words.text_likelihood import Likelihood, Scoring
from lab.course.words import in_tex, number_of, quoted, share, signed
from lab.lessons.masked_language_model import word_figures
from lab.models.batches import ProgressFunction
from lab.models.trace import Trace
from lab.ui import sidebar
from lab.ui.drawing import code, draw
from lab.ui.long_work import offer, serial_of
from lab.ui.parameters import PROBABILITY, SCORE
from lab.ui.screen import meaning, say

UNASKED_UP_TO = 48  # the most tokens that are scored without a click; hiding more of them one by one takes seconds
_CAUSAL = (
    "How probable does the model find the whole text? It gives every token but the first a probability, based on the "
    "tokens before it. The logarithms of these probabilities add up to the **log-likelihood**."
)
_MASKED = (
    "How probable does the model find the whole text? Hide one token after the other, each in a copy of the text, and "
    "ask for it. The logarithms of the probabilities add up to the **pseudo-log-likelihood**."
)
READING = (
    "The {name} is **{value:,.1f}**: on average, the model is as unsure about a token as among {value:,.1f} that are "
    "equally probable. Least probable is {worst}, with {p}."
)
_LIMITS = (
    "Compare texts only within one model. A word in several pieces seems too probable to BERT, because each piece sees "
    "the others (Kauf & Ivanova 2023)."
)


def show(trace: Trace) -> Trace:
    """Show the (pseudo-)log-likelihood of the text: its meaning, its sum, and the part of each token."""
    _show_likelihood(trace)
    return trace


def _show_likelihood(trace: Trace) -> None:
    places = text_likelihood.scored_places(trace.model, trace.encoding)
    say(_CAUSAL if trace.model.config.causal else _MASKED)
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
    count = None if found.finished else len(found.scores)
    draw(partial(word_figures.token_scores, trace, SCORE.chosen() == PROBABILITY, count), "token-scores")
    meaning(unsure(trace, found))
    st.caption(_LIMITS)
    with sidebar.controls():
        SCORE.choose("Bars")
    with st.expander("The sum, written out", icon=":material/function:", on_change="rerun", key="_sum_of_logs") as sums:
        if sums.open:
            _show_sum(found)
    code(text_likelihood.likelihood, Likelihood)


def _show_scoring(trace: Trace, scoring: Scoring) -> None:
    with st.spinner("Scoring the tokens …"):
        while not scoring.finished:
            scoring.step(trace)


def _show_found(trace: Trace, count: int) -> Likelihood | None:
    """Return the likelihood of the tokens scored so far; a long text is scored at a click."""
    scoring = text_likelihood.scoring(trace)
    if scoring.finished:
        return scoring.latest
    if trace.model.config.causal or count <= UNASKED_UP_TO:
        _show_scoring(trace, scoring)
    else:
        done = len(scoring.latest.scores) if scoring.latest else 0
        label = f"Go on: {done} of {count} tokens are scored" if done else f"Score {number_of(count, 'token')}"
        offer(("likelihood", serial_of(scoring)), label, partial(_score_all, trace, scoring))
    return scoring.latest


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


def unsure(trace: Trace, found: Likelihood) -> str:
    """Put a perplexity into plain words, and name the token with the smallest probability."""
    worst = min(found.scores, key=lambda score: score.log_probability)
    word = f"{quoted(word_of(trace.model.tokenizer, worst.token_id))} ({worst.place + 1})"
    name = "pseudo-perplexity" if found.pseudo else "perplexity"
    return READING.format(name=name, value=found.perplexity, worst=word, p=share(worst.probability))


def _score_all(trace: Trace, scoring: Scoring, tell: ProgressFunction) -> None:
    """Score the tokens that are missing, and report the progress after each batch."""
    while not scoring.finished:
        scoring.step(trace)
        tell(0.0 if scoring.latest is None else scoring.latest.done)
