"""The plan of a layer: its parts in their order, and what the model says without the second half."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.layers.sublayers import stages
from lab.analysis.words.predictions import candidates, prediction_at
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.charts.marks.layer_plan import Box, plan
from lab.course.words import in_words, quoted, spoken
from lab.evidence import story
from lab.lessons.feed_forward import LESSON
from lab.lessons.feed_forward.view import FeedForwardView, show_sentence
from lab.models import forward
from lab.models.interventions import Interventions
from lab.models.memo import once
from lab.models.trace import Trace, trace_encoding
from lab.questions.asking import asks
from lab.questions.question import Option, Question, bet
from lab.ui.drawing import code, draw
from lab.ui.quiz.step_questions import ask_beside
from lab.ui.screen import caption, meaning, say

IDEA = """
Here is the whole plan of a layer. Follow the vector of {token} through layer {layer}, from top to bottom."""
PARTS = """
- **Self-attention** collects from the other tokens.
- **Add** adds the result to the vector that came in.
- **LayerNorm** brings the numbers of a vector to one scale, with mean 0 and spread 1; then it multiplies and shifts
  each dimension by learned numbers.
- The **feed-forward network** works on the vector of this token alone. Each of its {neurons:,} **neurons** measures how
  far the vector points in one direction, and adds a direction of its own as strongly as it fires."""
CAPTION = """
The number beside a part is the length of the vector that comes out. Lengths do not add up, because vectors point in
different directions."""
READING = """
In layer {layer}, attention adds a vector of length {attention:.2f} to {token}, and the network adds one of length
{network:.2f}."""
WORDS = """
With the network of layer {layer}, the best word {where} is {best} ({before:.2f}); without it, {other} ({after:.2f})."""
WRITTEN = """
Attention has brought to the blank which country it is. To name the capital, the model needs the network: without it,
the capital comes first in {capitals} of {count} countries."""
CAVEAT = """
Without the network means: all its neurons are 0, which may take away more than what the network says. What comes first
then differs: the country itself in {countries} of the {count} sentences, and mostly *the* or a comma."""
_WORDS = 5


def show(view: FeedForwardView) -> None:
    """Show the order of the parts of this layer, and the words at the blank with and without its network."""
    say(IDEA.format(token=view.name, layer=view.number))
    show_sentence(view)
    picture, parts = st.columns(2, gap="large")
    with picture:
        draw(partial(layer_plan, view.trace, view.layer.index, view.token), "plan")
    with parts:
        say(PARTS.format(neurons=view.config.ffn_width))
        st.caption(CAPTION)
    if not ask_beside(LESSON, without_network() if view.in_story or view.says is not None else None):
        return
    if view.says is not None:
        for column, network in zip(st.columns(2, gap="large"), (True, False), strict=True):
            with column:
                shown = partial(best_words, view.trace, view.layer.index, view.says, network=network)
                draw(shown, f"best-words-{network}")
    meaning(said(view))
    told = story.known(view.trace.model)
    if view.in_story and told is not None:
        caption(CAVEAT.format(**counts(told)))
    code(forward.pre_norm_layer if view.config.pre_norm else forward.post_norm_layer)


@asks(
    basis=bet(
        "Attention brings the answer.",
        "Attention brings a word, and the network makes the answer of it.",
        "The network knows which country is meant.",
    ),
    hint="What have the heads of layer 6 brought to the blank? And which part has to do something with it?",
)
def without_network() -> Question:
    """Ask whether the model still names the capital without the network of layer 6."""
    return Question(
        "without-network",
        "In *The capital of France is ▢.*, two heads of layer 6 have brought to the blank what *France*’s vector "
        "says. The word *paris* is nowhere in the text. Leave out the feed-forward network of layer 6. Does "
        "lab-minilm still say *paris*?",
        (
            Option(
                "Yes: attention has brought the answer",
                "Attention is the famous half of a layer. What it brings says which country it is, and is not yet "
                "the answer.",
            ),
            Option(
                "No: *france* itself comes first, and not its capital",
                "What the two heads bring is which country it is. In most other countries’ sentences, *the* or a comma "
                "comes first then; the capital comes first in none.",
                correct=True,
            ),
            Option(
                "No: a word that has nothing to do with France comes first",
                "The line in the plan leads past the network, so what attention has added still arrives. In this "
                "sentence, it is enough for *france*; in most others, *the* or a comma comes first.",
            ),
        ),
        mixed=True,
    )


@once
def network_off(trace: Trace, layer: int) -> Trace:
    """Run the text again with all neurons of a layer (from 0) at 0."""
    off = frozenset((layer, neuron) for neuron in range(trace.model.config.ffn_width))
    return trace_encoding(trace.model, trace.encoding, Interventions(zero_neurons=off))


def layer_plan(traced: Trace, layer: int, token: int) -> Figure:
    """Draw the order of a layer, and how long the vector of ``token`` is after each step."""
    steps = stages(traced.layer(layer))
    boxes = [Box(stage.name, float(stage.vectors[token].norm()), stage.residual) for stage in steps]
    return plan(boxes, title=f"The steps of layer {layer + 1}", value_title="Length of the vector", value_format=".2f")


def best_words(traced: Trace, layer: int, place: int, *, network: bool) -> Figure:
    """Draw the most probable words at ``place``, with or without the network of a layer (from 0)."""
    both = [
        candidates(prediction_at(run, place, None), _WORDS, run.model.tokenizer)
        for run in (network_off(traced, layer), traced)
    ]
    shown, most = both[network], max(found[0].probability for found in both)
    title = f"{'With' if network else 'Without'} the network of layer {layer + 1}: the best words"
    values = [each.probability for each in shown]
    return bars([each.word for each in shown], values, Scale("Probability", (0, most), ".2f"), title=title)


def counts(told: story.CourseStory) -> dict[str, object]:
    """Count what comes first without the network in the sentences about the countries."""
    rows = [row for row in told.removed if row.change == "network of the last layer at zero"]
    capitals = told.first_after("network of the last layer at zero")
    countries = sum(row.best == row.country.lower() for row in rows)
    return {
        "count": len(rows),
        "capitals": in_words(capitals) if capitals else "none",
        "countries": in_words(countries),
    }


def said(view: FeedForwardView) -> str:
    """Say what the model says with the network and without it; if it says no word, how much both halves add."""
    layer, at = view.layer, view.token
    if view.says is None:
        attention, network = (float(each[at].norm()) for each in (layer.attention_output, layer.ffn_output))
        return READING.format(layer=view.number, token=view.name, attention=attention, network=network)
    (best,), (other,) = (
        candidates(prediction_at(run, view.says, None), 1, run.model.tokenizer)
        for run in (view.trace, network_off(view.trace, layer.index))
    )
    numbers = {"before": best.probability, "after": other.probability}
    causal, last = view.trace.model.config.causal, spoken(view.trace, view.says)
    where = f"after {last}" if causal else f"at {last}"
    told = WORDS.format(layer=view.number, where=where, best=quoted(best.word), other=quoted(other.word), **numbers)
    known = story.known(view.trace.model)
    return told + WRITTEN.format(**counts(known)) if view.in_story and known is not None else told
