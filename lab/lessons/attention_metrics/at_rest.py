"""A head at rest: how much each head rests on average, beside what changes without it."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.flow.maps import layer_map
from lab.analysis.heads import switched_off
from lab.analysis.heads.switched_off import effect_sizes, log_change, resting_share
from lab.analysis.heads.values import Values, keep_others, places_left_out
from lab.analysis.ranks import rank_correlation
from lab.analysis.words.masking import asked_run
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.scatter import scatter
from lab.course.sentences.looks import is_story
from lab.course.words import capital, head_name, quoted, resting_place, signed
from lab.figures.attention import place as place_of
from lab.lessons.attention_metrics import LESSON
from lab.models.interventions import Head
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.question import Option, Question, derivable
from lab.ui.drawing import code, draw
from lab.ui.quiz.step_questions import predict
from lab.ui.screen import caption, meaning, say
from lab.ui.shared.heads_off import may_run
from lab.ui.shared.one_head import OneHead

IDEA = """
Does the answer need a head that rests? In lesson 3, the rows of the other words in 6-4 gave 0.80 or more to [CLS] and
[SEP]. The figure has two numbers of every head: the mean share that words give to {rest}, and the change of the answer
with the head at its mean over the sentence (lesson 4)."""
READING = """
From the words, {head} gives {rest} {share:.2f} of its attention on average. As a mean over the words, {arrives:.2f} of
the lengths of the vectors that it adds comes from there (Kobayashi et al. 2020). With this head at its mean, {what}."""
LOGARITHM = "ln P of {word} changes by {change}"
MOVED = "the last vectors move by {change} of their length"
STORY = """
No other head changes ln P of *paris* as much. On average, 6-4 is a head at rest; the row of the blank is one of the
seven rows of words that are averaged, and the average hides it."""
RANKS = """
Rank correlation of rest and the size of the change: {rho} over all {count} heads (shuffled numbers stay within
±{band:.2f} in 19 of 20 cases), and {within} on average within a layer (±{limit:.2f})."""
RANKS_STORY = (
    "So on average over the layers, heads that rest more change this answer less, with exceptions such as 6-4."
)
POINTS = (
    "Each point is a head; its name is under the pointer. Half of the heads are right of the dashed line. "
    "The ring is {head}."
)


def show(view: OneHead) -> None:
    """Show, for each head, how much it rests and what changes with the head at its mean."""
    say(IDEA.format(rest=resting_place(view.trace)))
    run, place, word = asked_of(view.trace)
    if keep_others(run) is None:
        st.info("This text has no other tokens. Write a longer text.", icon=":material/edit:")
        return
    if not may_run(run) or not predict(LESSON, rests_and_works()):
        return
    head = view.layer.index, view.head
    draw(partial(rest_and_effect, run, *head, place, word), "rest-and-effect")
    caption(POINTS.format(head=head_name(head)))
    found, orders = capital(reading(run, place, word, head).strip()), ranks(run, place, word)
    meaning(f"{found} {STORY}" if view.spot.in_story_head else found)
    if orders:
        caption(f"{orders} {RANKS_STORY}" if is_story(view.trace) else orders)
    code(switched_off.resting_share, switched_off.effect_sizes, rank_correlation)


def asked_of(trace: Trace) -> tuple[Trace, int | None, int | None]:
    """Return the run in which a word is asked for, its place, and its most probable word; without one, None twice."""
    found = None if trace.model.no_words else asked_run(trace)
    if found is None:
        return trace, None, None
    run, place = found
    return run, place, int(run.logits(place)[0].argmax())


def correlation(shares: np.ndarray, effects: np.ndarray) -> tuple[float, float]:
    """Spearman's ρ of two numbers of all heads, and its limit for shuffled numbers in 19 of 20 cases.

    For n things with unrelated numbers, ρ has the standard deviation 1/√(n − 1). ρ is nan for so few heads, as in a
    toy, that no ρ would be beyond the limit.
    """
    band = 1.96 / math.sqrt(max(shares.size - 1, 1))
    return (math.nan if band >= 1 else rank_correlation(shares, effects)), band


def within_layers(shares: np.ndarray, effects: np.ndarray) -> tuple[float, float]:
    """The mean over layers of Spearman's ρ inside a layer, and its limit for shuffled numbers in 19 of 20 cases.

    Layers with fewer than three heads, or with the same number everywhere, do not count; nan if no other is left.
    """
    each = [rank_correlation(*pair) for pair in zip(shares, effects, strict=True) if len(pair[0]) > 2]
    known = [rho for rho in each if not math.isnan(rho)]
    if not known:
        return math.nan, math.nan
    return float(np.mean(known)), 1.96 / math.sqrt(len(known) * (shares.shape[1] - 1))


def brought(trace: Trace, head: Head) -> tuple[float, float]:
    """The share of a head's attention that words give to resting places, and the share of what arrives from there.

    What arrives is measured by the lengths of the vectors α·f(x) that the head adds (Kobayashi et al. 2020, §3).
    """
    out, _ = places_left_out(trace)
    weights, lengths = (layer_map(trace.layer(head[0]), head[1], norms=norms)[~out] for norms in (False, True))
    return float(weights[:, out].sum(axis=1).mean()), float(lengths[:, out].sum(axis=1).mean())


def reading(run: Trace, place: int | None, word: int | None, head: Head) -> str:
    """State how much a head rests, how much of what it adds comes from there, and what changes without it."""
    given, arrives = brought(run, head)
    change = signed(float(changes(run, place, word)[head]))
    told = MOVED.format(change=change)
    if word is not None:
        told = LOGARITHM.format(word=quoted(run.model.tokenizer.id_to_token(word) or ""), change=change)
    return READING.format(head=head_name(head), rest=resting_place(run), share=given, arrives=arrives, what=told)


def ranks(run: Trace, place: int | None, word: int | None) -> str:
    """State both rank correlations; "" for too few heads."""
    shares, effects = resting_share(run), effect_sizes(run, place, word, to_mean=True)
    (rho, band), (within, limit) = correlation(shares, effects), within_layers(shares, effects)
    if math.isnan(rho) or math.isnan(within):
        return ""
    return RANKS.format(rho=signed(rho), count=shares.size, band=band, within=signed(within), limit=limit).strip()


@asks(
    basis=derivable("multi-head-attention", "head-brings", "the bars of the heads at their mean"),
    hint="At which row of 6-4 does the answer come about?",
)
def rests_and_works() -> Question:
    """Ask whether the answer needs the course's head, though it rests on average."""
    return Question(
        "rests-and-works",
        "Averaged over the words, head 6-4 of lab-minilm gives [CLS] and [SEP] 0.74 of its attention. Each of the 72 "
        "heads is put at "
        "its mean, one at a time. Without which head does the probability of *paris* change most?",
        (
            Option(
                "Without a head that rests less: 6-4 rests, and adds little",
                "That holds for rows that rest. The row of the blank gives *france* 0.96, and it is read at the end.",
            ),
            Option(
                "Without the head that rests most: all rely on it",
                "Then the points on the right of the figure would be the farthest below 0. But 3-10, which rests most, "
                "changes ln P by 0.01.",
            ),
            Option(
                "Without 6-4: it rests in most rows, but not in the blank’s",
                "*paris* falls from 0.38 to 0.25. An average over rows hides the row that works.",
                correct=True,
            ),
        ),
        mixed=True,
    )


def changes(traced: Trace, place: int | None, word: int | None) -> Values:
    """Return the change with each head at its mean, as :func:`rest_and_effect` draws it, (L, H)."""
    if place is None or word is None:
        return effect_sizes(traced, None, None, to_mean=True)
    return log_change(traced, place, word, to_mean=True)


def rest_and_effect(traced: Trace, layer: int, head: int, place: int | None = None, word: int | None = None) -> Figure:
    """Draw the share that every head rests against the change with the head at its mean; one head has a ring.

    The change is that of ln P of ``word`` (a token id) at ``place``, below 0 if the word gets less probable, or without
    them, the distance that the last layer's vectors move. The dashed line is the median share: half of the heads rest
    more.
    """
    shares, effects = resting_share(traced), changes(traced, place, word)
    heads = shares.shape[1]
    names = [place_of(*divmod(at, heads)) for at in range(shares.size)]
    of = "last vectors" if word is None else f"ln P({traced.model.tokenizer.id_to_token(word)})"
    scales = (
        Scale("Attention from words to resting places", (0.0, 1.0), ".2f"),
        Scale(f"Change of {of} with the head at its mean", format=".2f"),
    )
    points = shares.ravel(), effects.ravel()
    title, at = "The rest of each head, and the change without the head", layer * heads + head
    return scatter(names, points, scales, title=title, rule=float(np.median(shares)), highlight=at)
