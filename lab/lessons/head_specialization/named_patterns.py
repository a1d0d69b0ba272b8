"""Named patterns: heads that do one simple thing on this text, and whether they find a neighbour by its place."""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from lab.analysis.flow.cut_off import asked_of, cut_off
from lab.analysis.heads import named, patterns
from lab.analysis.heads.named import (
    MIXED,
    Chance,
    above_chance,
    clearly_above,
    followed,
    scores_of,
    trace_chance,
    with_places,
)
from lab.analysis.heads.patterns import PATTERNS, same_word_cases, trace_patterns
from lab.analysis.heads.swapping import Asked
from lab.analysis.heads.values import Values
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.marks.bars import bars
from lab.course.sentences.looks import STORY_HEAD, is_story
from lab.course.words import beside, capital, head_name, listed, number_of, quoted, spoken
from lab.figures import specialization_figures
from lab.figures.trace_axes import layers_and_heads
from lab.lessons.head_specialization import LESSON, NAMED
from lab.lessons.head_specialization.view import choose_part, chosen_left_out
from lab.models.interventions import Head
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.question import Option, Question, bet
from lab.ui.drawing import code, draw
from lab.ui.quiz.step_questions import ask_beside
from lab.ui.screen import meaning, say, say_more, show_table
from lab.ui.shared.one_head import OneHead, show_sentence

IDEA = """
Some heads do one simple thing that has a name (Vig 2018, *Deconstructing BERT*; Clark et al. 2019), and give it
clearly more attention than a uniform head does, or the best head of a model with random weights. Click a head to see
its arcs."""
NONE = "In this text, no head does one of these things clearly more often than chance."
COUNTED = "**{total}** of {all} heads {have} a name in this text{among}: {listed}."
AMONG = ", if one looks at its words alone"
STORY = "6-4 has none: looking at the country is not one of these patterns."
FOLLOWED = """
On average, the token {side} in the text gets {before:.2f} from {heads}. With the places shuffled, it gets {text:.2f},
and the token that has the place {side} gets **{place:.2f}**."""
BY_PLACE = "So they find their neighbour by its place, not by its word."
SHUFFLED = """
Weak bars: the token {sides} in the text, as it is, and with the places shuffled (ten random orders).
Strong bars: the token that has the place {sides} then."""
PREDICTS = """
Vig saw one more: a head that looks at a word that helps to predict another. Here, {answer} is predicted at {query}. Of
all words, **{word}** costs it most if it is cut off from everybody. Its score is the weight from {query} to {word},
and {head} gives most: {weight:.2f}."""
PREDICTS_STORY = "So this pattern is the look of lesson 3. Vig gives no threshold, so the lab names no head by it."
RULE = """
A **uniform head** gives every token that it may see the same weight. The score of a named head is at least halfway from
a uniform head’s score to 1, and above the score of the best **untrained head**, from the same architecture with random
weights. (The one half is the lab’s choice.) A head without a name is **mixed**."""
SYMBOLS = (
    r"$\ell_i$ is the number of keys that a query may see, $k_i$ the number of places of a word, $D$ the delimiters, "
    r"$s(i)$ the words of the token’s segment. No head is named **broad**, because no head is broader than a uniform "
    r"one."
)
FEW_CASES = 3  # tokens; with fewer tokens, a score for the same word means nothing
# The distance of the neighbour, and its name, of the patterns that look at one.
NEIGHBOURS = {"previous_token": (-1, "before"), "next_token": (1, "after")}
# The verb phrase of each pattern, after “4 heads …” and after “1 head …”.
DOES = {
    "next_token": ("look at the next token", "looks at the next token"),
    "previous_token": ("look at the token before", "looks at the token before"),
    "same_word": ("look at the same word elsewhere", "looks at the same word elsewhere"),
    "delimiter": ("rest on tokens that are not words", "rests on tokens that are not words"),
    "bag_of_words": ("look at all words alike", "looks at all words alike"),
}


def show(view: OneHead) -> None:
    """Show the names that heads get on this text; ask for the cause, and show it; behind clicks, scores."""
    show_sentence(view)
    say(IDEA)
    choose_part(view)
    at, only_words = (view.layer.index, view.head), chosen_left_out(view)
    draw(partial(specialization_figures.named_heads, view.trace, *at, only_words), NAMED, clickable=True)
    told, story = (
        counted(specialization_figures.names_of(view.trace, only_words), among=only_words),
        is_story(view.trace) and only_words,
    )
    say_more(f"{told} {STORY}" if story and at == STORY_HEAD else told)
    if not ask_beside(LESSON, by_place()):
        return
    if view.trace.model.weights.embeddings.position is not None and neighbours(view.trace, only_words):
        draw(partial(places_shuffled, view.trace, only_words), "places-shuffled")
        sides = " or ".join(NEIGHBOURS[id][1] for id in neighbours(view.trace, only_words))
        st.caption(SHUFFLED.format(sides=sides).strip())
        found = reading(view.trace, only_words)
        meaning(f"{found} {BY_PLACE}" if story else found)
    with st.expander("A word that predicts the word", on_change="rerun", key="_predicts") as predicts:
        if predicts.open:
            _show_predictor(view)
    with st.expander("The scores of this head", icon=":material/table:", on_change="rerun", key="_own_scores") as own:
        if own.open:
            _show_own(view, only_words)
    code(patterns.head_patterns, named.clearly_above, with_places)


def _show_predictor(view: OneHead) -> None:
    """Draw how much each head looks at the word that predicts the blank most."""
    asked = asked_of(view.trace)
    word = None if asked is None else predictor(asked)
    if asked is None or word is None:
        say("There is no word here that could be predicted, and none that could be cut off.")
        return
    draw(partial(predicting, asked.run, asked.place, view.layer.index, view.head), "predicting")
    told = capital(said_of_predictor(asked, word))
    say_more(f"{told} {PREDICTS_STORY}" if is_story(view.trace) else told)


def _show_own(view: OneHead, only_words: bool) -> None:
    """Show the chosen head's scores beside chance, the rule for a name, and the formula of each score."""
    at = view.layer.index, view.head
    name = pattern_name(str(specialization_figures.names_of(view.trace, only_words)[at]))
    say(f"{capital(head_name(at))} is **{name}**.")
    scores = scores_of(trace_patterns(view.trace, only_words=only_words))[:, *at]
    numbers = dict.fromkeys(("this head", "uniform head", "best untrained head"), "%.3f")
    show_table(scores_table(scores, trace_chance(view.trace, only_words=only_words)), formats=numbers)
    if 0 < same_word_cases(view.trace) < FEW_CASES:
        st.caption("Hardly any token has another place of the same word, so “Same or related word” says little here.")
    say(RULE)
    for pattern in PATTERNS:
        say(f"**{pattern.name}.** {pattern.reading}")
        st.latex(pattern.formula)
    st.caption(SYMBOLS)


def pattern_name(id: str) -> str:
    """The name of the pattern with this id; "Mixed" for a head without a named pattern."""
    return next((pattern.name for pattern in PATTERNS if pattern.id == id), MIXED.capitalize())


def counted(names: NDArray[np.str_], *, among: bool = False) -> str:
    """Say how many heads get each name on this text, ``among`` words alone or not. ``names`` (L, H)."""
    counts = Counter(str(name) for name in names.ravel())
    counts.pop(MIXED, None)
    if not counts:
        return NONE
    told = [f"{count} {DOES[name][count == 1]}" for name, count in counts.most_common()]
    total = sum(counts.values())
    have = "has" if total == 1 else "have"
    return COUNTED.format(total=total, all=names.size, have=have, among=AMONG * among, listed=listed(told))


def neighbours(trace: Trace, only_words: bool) -> dict[str, tuple[Head, ...]]:
    """The heads with the name of a neighbour, by the pattern's id, the more heads first."""
    names = specialization_figures.names_of(trace, only_words)
    found = {id: tuple((int(at), int(head)) for at, head in np.argwhere(names == id)) for id in NEIGHBOURS}
    return {id: heads for id, heads in sorted(found.items(), key=lambda each: -len(each[1])) if heads}


def places_shuffled(traced: Trace, only_words: bool = False) -> Figure:
    """Draw the mean weights of the heads named after a neighbour: as it is, and with the places shuffled.

    Raises ValueError for a model without vectors of places.
    """
    labels, values = [], []
    for id, heads in neighbours(traced, only_words).items():
        distance, side = NEIGHBOURS[id]
        found = followed(traced, heads, distance)
        labels += [side, f"{side}, shuffled", f"place {side}"]
        values += [found.before, found.text, found.place]
    scale = Scale("Mean weight", (0.0, 1.0), ".2f")
    return bars(labels, values, scale, title="What heads give a neighbour", highlight=range(2, len(labels), 3))


def reading(trace: Trace, only_words: bool) -> str:
    """State what the heads of the commoner neighbour follow."""
    id, heads = next(iter(neighbours(trace, only_words).items()))
    distance, side = NEIGHBOURS[id]
    found = followed(trace, heads, distance)
    told = number_of(len(heads), "head")
    return FOLLOWED.format(heads=told, side=side, before=found.before, text=found.text, place=found.place).strip()


@asks(
    basis=bet(
        "A head knows the words that often follow each other.",
        "A head compares the vectors of the places.",
    ),
    hint="What do the vectors of two tokens say about which one comes first (lesson 2)?",
)
def by_place() -> Question:
    """Ask what heads for a neighbour look at if the places of the tokens are shuffled."""
    return Question(
        "by-place",
        "Leave the tokens in their order, but give each the vector of another token’s place, at random. At which token "
        "do the heads look that looked at the token before?",
        (
            Option(
                "At the token that now has the place before",
                "It gets nearly what the token before got: these heads compare places.",
                correct=True,
            ),
            Option(
                "Still at the token before: they know which words follow each other",
                "Then its weight would stay. In lab-minilm, it falls from 0.54 to 0.16.",
            ),
            Option(
                "At no token in particular: shuffled places tell them nothing",
                "Each token still has a place, and one token has the place before it.",
            ),
        ),
        mixed=True,
    )


def predictor(asked: Asked) -> int | None:
    """Return the token without which the best word at the asked place loses most; None without a word to cut off."""
    _, *cuts = cut_off(asked)
    return min(cuts, key=lambda row: row.kept).token if cuts else None


def predicting(traced: Trace, place: int, layer: int, head: int) -> Heatmap:
    """Draw the weight of each head from ``place`` to the word that predicts its best word; one head is outlined.

    Raises ValueError for a text without a word that could be cut off.
    """
    word = predictor(Asked(traced, place))
    if word is None:
        raise ValueError("This text has no word that could be cut off.")
    config = traced.model.config
    weights = np.array([traced.layer(at).attention[:, place, word].numpy() for at in range(config.layers)])
    title = f"From {traced.labels[place]} to {traced.labels[word]}, the word that predicts most"
    scale = Scale("Weight", (0.0, 1.0), ".2f")
    return heatmap(weights, layers_and_heads(weights), scale, title=title, highlight=(layer, head))


def said_of_predictor(asked: Asked, word: int) -> str:
    """Name the word that predicts most, and the head that looks at it most."""
    run, place = asked.run, asked.place
    weights = np.array([run.layer(at).attention[:, place, word].numpy() for at in range(run.model.config.layers)])
    layer, head = (int(each) for each in np.unravel_index(int(weights.argmax()), weights.shape))
    best = run.model.tokenizer.id_to_token(int(run.logits(place)[0].argmax())) or ""
    return PREDICTS.format(
        answer=quoted(best),
        query=spoken(run, place),
        word=quoted(run.labels[word]),
        head=head_name((layer, head)),
        weight=weights[layer, head],
    ).strip()


def above(value: float) -> str:
    """Write how far a score is above chance; rounding never moves the number to or across the limit of a name."""
    if np.isnan(value):
        return ""
    if np.isinf(value):
        return "no room"
    return "below chance" if value < 0 else beside(value, named.CLEARLY)


def scores_table(scores: Values, chance: Chance) -> pd.DataFrame:
    """Draw one row per pattern: the chosen head's score beside chance. ``scores`` (P,)."""
    table = pd.DataFrame(
        {
            "pattern": [pattern.name for pattern in PATTERNS],
            "this head": scores,
            "uniform head": chance.uniform,
            "best untrained head": chance.untrained,
            "above chance": [above(float(value)) for value in above_chance(scores, chance.uniform)],
            "clearly": ["yes" if each else "" for each in clearly_above(scores, chance)],
        }
    )
    return table[~np.isnan(scores)]
