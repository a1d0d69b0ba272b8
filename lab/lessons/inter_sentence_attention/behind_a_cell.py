"""Behind a cell: where one head looks from sentence to sentence, and what is left if the blank cannot look there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
import streamlit as st

from lab.analysis.flow.cuts import Cuts, Way, cut_run, is_sink
from lab.analysis.heads.values import is_causal
from lab.analysis.sentences.between_sentences import AVERAGE
from lab.analysis.sentences.token_sentences import split
from lab.analysis.words.masking import asked_run
from lab.analysis.words.predictions import Candidate, candidates, prediction_at
from lab.charts.base.axes import Axis, Scale
from lab.charts.cells.categories import word_grid
from lab.charts.cells.grid import Texts
from lab.charts.cells.heatmap import Heatmap
from lab.course.sentences.looks import STORY_HEAD, is_story, look_head
from lab.course.words import listed, quoted, spoken
from lab.figures.sentences import behind, block
from lab.lessons.inter_sentence_attention import LESSON
from lab.lessons.inter_sentence_attention.view import EXAMPLE, SentencesView, show_tokens
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.encoding import BLANK
from lab.models.interventions import Head, Interventions
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.question import Option, Question, bet
from lab.ui.drawing import code, draw
from lab.ui.quiz.step_questions import ask_beside
from lab.ui.screen import caption, meaning, say, say_more

STORY_IDEA = "*The capital is ▢.* does not say which country is meant; the sentence before it does."
IDEA = """
The model reads all sentences as one row of tokens. The arcs show where head {head} looks from sentence {a} to sentence
{b}."""
READING = """
In head {head}, the strongest link from sentence {a} to sentence {b} is the one from {query} to {key}:
**{weight:.2f}**. In the mean over all {count} heads, this link has {mean:.2f}; a uniform head gives it {even:.2f}."""
STORY = """
Head 6-4, the head of lesson 3, looks at *france* across the full stop, too. The mean hides this: there, *france* gets
less than from a uniform head."""
CUT = """
Looking is not mattering. Each row is a run in which some links to {key} are cut: the link from {query} in some heads
or in all, and, in the last row, the links from all other tokens."""
LEFT = """
If the link from {query} to {key} is cut in head {head} alone, {word} goes from {before:.2f} to **{one:.2f}**. If it is
cut in all heads, {word} has **{every:.2f}**, and {then}."""
STORY_CUT = """
So *France* comes over to the blank directly, mostly in two heads: with the link cut in 6-4 and 6-6, *paris* has
{two:.2f}. If no token but the blank can look at *France*, *paris* stays first ({around:.2f})."""
LIST = """
**With other countries, too?** The lab put each of 65 countries in the place of *France*. From the blank, 6-4 gives the
country 0.78 or more. The model names the capital of 32 of them. If the blank cannot look at the country, *tokyo* comes
first in 30 of these 32 texts, and *athens* in 2."""
CAVEAT = "A cut link gives its weight to the other tokens of the row, so a cut does more than take a word away."
NO_BLANK = "To see what a cut changes, write a blank (_), and choose its sentence first and another sentence second."
LOOKS, TOP = 0.5, 4  # heads that give a word less than this do not look there; the words of a run that are drawn


def show(view: SentencesView) -> None:
    """Show a head from sentence to sentence beside the mean over all heads; then cut the link that it shows."""
    trace, a, b = view.trace, view.a, view.b
    head = view.page.head_controls(trace, first_head)
    story = is_story(trace, EXAMPLE) and head == STORY_HEAD and (a, b) == (1, 0)
    say(f"{STORY_IDEA} " * story + IDEA.format(head=name(head), a=a + 1, b=b + 1))
    show_tokens(view, head)
    one, mean = st.columns(2)
    with one:
        draw(partial(block, trace, a, b, head), "block-head")
    with mean:
        draw(partial(block, trace, a, b, AVERAGE, top=1.0), "block-mean")
    found = reading(trace, a, b, head)
    meaning(f"{found} {STORY}" if story else found)
    if view.toy or not ask_beside(LESSON, whose_link()):
        return
    link = asked(trace, a, b, head)
    if link is None:
        say(NO_BLANK)
        return
    say(CUT.format(query=spoken(trace, link[0]), key=spoken(trace, link[1])))
    draw(partial(what_is_left, trace, *link, head), "links-cut")
    say_more(left(trace, *link, head))
    if story:
        *_, two, _, around = cut_links(trace, *link, head)
        say_more(STORY_CUT.format(two=two.kept, around=around.kept))
        say_more(LIST)
    caption(CAVEAT)
    code(Interventions.steps)


@dataclass(frozen=True)
class Strongest:
    """The largest weight of a head from a sentence to another: query and key (from 0), and the same link elsewhere.

    ``mean`` is the link's weight in the mean over all heads, and ``even`` its weight in a uniform head.
    """

    query: int
    key: int
    weight: float
    mean: float
    even: float


def strongest(trace: Trace, a: int, b: int, head: Head) -> Strongest:
    """Find the largest weight of a head from sentence ``a`` to sentence ``b``."""
    own, mean = (behind(trace, split(trace), a, b, heads, left_out=False) for heads in (head, AVERAGE))
    cell = np.unravel_index(int(own.weights.argmax()), own.weights.shape)
    query, key = int(own.queries[cell[0]]), int(own.keys[cell[1]])
    seen = query + 1 if is_causal(trace) else len(trace)
    return Strongest(query, key, float(own.weights[cell]), float(mean.weights[cell]), 1 / seen)


def first_head(trace: Trace) -> Head:
    """Find the head with which the step begins: the course's if its model has a blank to fill.

    In other texts, this is the head with the largest weight from a word of sentence 2 to a word of sentence 1 that is
    not the word before it.
    """
    if trace.model.id == DEFAULT_MODEL and BLANK in trace.labels:
        return look_head(trace)
    rows, columns = ([place for place in split(trace).places(number) if is_word(trace, place)] for number in (1, 0))
    far = np.array([[query - key > 1 for key in columns] for query in rows]).reshape(len(rows), len(columns))
    if not far.any():
        return look_head(trace)
    best = [
        np.where(far, trace.layer(layer).attention[:, rows][..., columns].numpy(), 0).max(axis=(1, 2))
        for layer in range(trace.model.config.layers)
    ]
    layer, head = np.unravel_index(int(np.argmax(best)), np.shape(best))
    return int(layer), int(head)


def is_word(trace: Trace, place: int) -> bool:
    """Return whether a token has a letter or a digit, and attention does not just rest there."""
    return any(map(str.isalnum, trace.labels[place])) and not is_sink(trace, place)


def name(head: Head) -> str:
    """Write a head as "6-4"; layer and head count from 0."""
    return f"{head[0] + 1}-{head[1] + 1}"


def reading(trace: Trace, a: int, b: int, head: Head) -> str:
    """Name the strongest link of a head between two sentences, with its weight in the mean over all heads."""
    found, config = strongest(trace, a, b, head), trace.model.config
    words = {"query": spoken(trace, found.query), "key": spoken(trace, found.key)}
    numbers = {"weight": found.weight, "mean": found.mean, "even": found.even, "count": config.layers * config.heads}
    return READING.format(head=name(head), a=a + 1, b=b + 1, **words, **numbers)


@asks(
    basis=bet(
        "The other words of a sentence collect what the sentence before says, and the blank asks them.",
        "The blank itself looks at the word.",
        "If one way is cut, the other one is enough.",
    ),
    hint="What do the arcs show: whose link to *France* is strong?",
)
def whose_link() -> Question:
    """Ask which links to *France* the answer needs: those of the blank, or those of all other tokens."""
    return Question(
        "whose-link",
        "*She lives in France. The capital is ▢.* Cut links to *France* in all heads of lab-minilm. When does *paris* "
        "lose its lead?",
        (
            Option(
                "If the blank and all others cannot look at it: either way is enough",
                "This is so in some sentences, such as that of the first page about dogs. Here, one way decides.",
            ),
            Option(
                "If the blank cannot look at *France*",
                "Then *paris* falls from 0.74 to 0.01, and no word gets more than 0.02. The blank collects *France* "
                "itself.",
                correct=True,
            ),
            Option(
                "If all tokens but the blank cannot look at *France*",
                "They could collect *France* and hand it on. But with their links cut, *paris* even rises, to 0.86.",
            ),
        ),
        mixed=True,
    )


@dataclass(frozen=True)
class CutLinks:
    """A run with some links to a word cut: its name, its best words, and the probability of the plain run's best."""

    name: str
    best: tuple[Candidate, ...]
    kept: float


def cut_links(run: Trace, place: int, key: int, head: Head) -> list[CutLinks]:
    """Run a text as it is, and with links to ``key`` cut: from ``place`` in more and more heads, then from others."""
    config = run.model.config
    every = list(product(range(config.layers), range(config.heads)))
    weights = [run.layer(layer).attention[of, place, key] for layer, of in every]
    looking = sorted({head, *(each for each, weight in zip(every, weights, strict=True) if weight >= LOOKS)})
    some = listed([name(each) for each in looking]) if len(looking) < TOP else f"{len(looking)} heads"
    cuts = {"as it is": Cuts(), f"cut in {name(head)}": in_heads([head], place, key)}
    cuts |= {f"cut in {some}": in_heads(looking, place, key), "cut in all heads": Cuts(((key, Way.DIRECT),))}
    cuts["cut from all others"] = Cuts(((key, Way.AROUND),))
    best, rows = int(prediction_at(run, place, None).logits.argmax()), []
    for what, each in cuts.items():
        found = prediction_at(cut_run(run, place, each), place, None)
        rows.append(CutLinks(what, candidates(found, TOP, run.model.tokenizer), float(found.probabilities[best])))
    return rows


def in_heads(heads: list[Head], query: int, key: int) -> Cuts:
    """Cut one link in these heads."""
    return Cuts(in_heads=frozenset((layer, head, query, key) for layer, head in heads))


def what_is_left(traced: Trace, place: int, key: int, head: Head) -> Heatmap:
    """Draw the best words at ``place`` as the text is, and with links to ``key`` cut; see :func:`cut_links`."""
    rows = cut_links(traced, place, key, head)
    texts = [[each.word for each in row.best] for row in rows]
    values = np.array([[each.probability for each in row.best] for row in rows])
    label = traced.labels[key]
    axes = Axis(f"Links to {label}", [row.name for row in rows]), Axis("Most probable words", ["1", "2", "3", "4"])
    title = f"What the model says if links to {label} are cut"
    return word_grid(values, Texts("Word", texts), axes, Scale("Probability", (0.0, 1.0), ".2f"), title=title)


def asked(trace: Trace, a: int, b: int, head: Head) -> tuple[int, int] | None:
    """Return the place that the model fills in sentence ``a``, and the word of ``b`` at which the head looks from it.

    None without such a place or word.
    """
    found, sentences = None if trace.model.no_words else asked_run(trace), split(trace)
    if found is None or found[0] is not trace or a == b or sentences.of_token[found[1]] != a:
        return None
    words = [place for place in sentences.places(b) if is_word(trace, place)]
    row = trace.layer(head[0]).attention[head[1], found[1]]
    return (found[1], max(words, key=lambda place: float(row[place]))) if words else None


def left(trace: Trace, place: int, key: int, head: Head) -> str:
    """Say what the cuts of the link leave of the best word."""
    plain, one, *_, every, _ = cut_links(trace, place, key, head)
    first = every.best[0]
    words = {"query": spoken(trace, place), "key": spoken(trace, key), "head": name(head)}
    kept = {"before": plain.kept, "one": one.kept, "every": every.kept}
    word, other = quoted(plain.best[0].word), quoted(first.word)
    then = "stays first" if other == word else f"{other} comes first ({first.probability:.2f})"
    return LEFT.format(word=word, then=then, **words, **kept)
