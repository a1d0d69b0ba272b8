"""The other run: another text or model, an intervention, or random weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from lab.analysis.heads.switched_off import each_head_off, multiplications
from lab.analysis.layers.sublayers import turned_round
from lab.analysis.words.predictions import candidate, prediction_at
from lab.benches.compare import EXAMPLE
from lab.benches.compare.comparable import hidden
from lab.course.sentences.looks import look_head, look_in
from lab.course.words import escaped, named, number_of, quoted
from lab.models.catalogue import twin_id
from lab.models.encoding import TextError
from lab.models.interventions import Interventions
from lab.models.trace import Trace, changed
from lab.toy.data import as_text
from lab.toy.models import number_run
from lab.ui import parameters, runs, selection
from lab.ui.chosen_tokens import FirstHead, with_tokens
from lab.ui.download_offer import available
from lab.ui.page import OpenPage
from lab.ui.parameters import (
    BLOCKED,
    INTERVENTION,
    MEAN_HEAD,
    NO_POSITIONS,
    NO_SCALING,
    NO_SEGMENTS,
    TOY,
    TRAINED,
    TWO_MODELS,
    TWO_TEXTS,
    UNIFORM_HEAD,
    ZERO_HEAD,
)
from lab.ui.sentence import show_sentence
from lab.ui.toys import toy_runs

_VERB = 4  # from 0
# Up to this many multiplications, no button is needed: some two seconds on one core.
_UNASKED = 1e10
_LONGEST = 60  # the number of characters of a text that are shown as the text's name


@dataclass(frozen=True)
class Pair:
    """The two runs, and a description of each run as Markdown."""

    a: Trace
    b: Trace
    a_is: str
    b_is: str


def choose_tokens(a: Trace, layer: int, head: int, b: Trace | None = None) -> tuple[int, int]:
    """Find the chosen query and key of A, from 0.

    Until somebody chooses, the query is the verb of the example; in another text, it is the place that the lab would
    look at, if B has a word there, else the last place at which both have a word.
    """
    first = _VERB if a.text == EXAMPLE[0] else look_in(a, layer, head).query
    both = [i for i, special in enumerate(a.encoding.special) if not special]
    if b is not None:
        both = [i for i in both if i < len(b) and not b.encoding.special[i]]
    return with_tokens(a, (layer, head), first if first in both or not both else both[-1])


def choose_first_head(page: OpenPage) -> FirstHead:
    """Return the function that finds the first head.

    For the lab's example of an intervention, it finds a head that matters.
    """
    example = page.selection[parameters.TEXT] == EXAMPLE[0] and page.selection[parameters.MODE] != TOY
    return _mattering if example and parameters.COMPARE.chosen() == INTERVENTION else look_head


def _mattering(a: Trace) -> tuple[int, int]:
    """Find the head without which the verb's probability changes most, if the runs are quick.

    If the runs take too long, find the usual first head.
    """
    asked, word = hidden(a, _VERB), a.token_ids[_VERB]
    soon = multiplications(a.model.config, len(a)) <= _UNASKED
    without = each_head_off(asked, _VERB, word).probabilities if soon else None
    if without is None:
        return look_head(a)
    change = np.abs(without - candidate(prediction_at(asked, _VERB, None), word, a.model.tokenizer).probability)
    layer, head = np.unravel_index(int(change.argmax()), change.shape)
    return int(layer), int(head)


def choose_comparison() -> str:
    """Let the learner choose the difference between A and B."""
    return parameters.COMPARE.choose("Compare")


def choose_other_run(page: OpenPage, a: Trace, compare: str, layer: int, head: int) -> Pair:
    """Draw the controls that choose B, and run B. Stops the page with a sentence if B cannot be run."""
    toy = page.selection[parameters.MODE] == TOY
    if compare == TWO_TEXTS:
        b = _choose_toy_sentence(page, a) if toy else _choose_text(page, a)
        return Pair(a, b, _text(a), _text(b))
    if compare == INTERVENTION:
        return _choose_intervention(page, a, layer, head)
    if compare == TWO_MODELS:
        if toy:
            return _choose_toy(page, a)
        b = _choose_model(page, a)
        return Pair(a, b, quoted(a.model.id), quoted(b.model.id))
    return _choose_random_weights(page, a, toy)


def _text(traced: Trace) -> str:
    whole = traced.text if traced.pair is None else f"{traced.text} / {traced.pair}"
    return quoted(_cut(whole))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _choose_text(page: OpenPage, a: Trace) -> Trace:
    example = page.selection[parameters.TEXT] == EXAMPLE[0] != parameters.TEXT.chosen()
    text, pair = (EXAMPLE[1], "") if example else turned_round(a.text, a.pair or "")
    parameters.OTHER_TEXT.line("Text B", placeholder=_cut(text))
    with st.expander("Second sentence of B", icon=":material/tune:"):
        parameters.OTHER_PAIR.line("Second sentence of B (optional)", placeholder=_cut(pair))
    chosen = selection.current()
    if chosen[parameters.OTHER_TEXT].strip():
        return page.run(a.model.id, chosen[parameters.OTHER_TEXT], chosen[parameters.OTHER_PAIR], whose="Text B: ")
    if example:
        return page.run(a.model.id, text, pair, whose="Text B: ")
    what = "the two texts of A, swapped" if pair else "A with its words in reverse order"
    st.caption(f"Until you type a text B, the lab uses {what}.")
    return page.run(a.model.id, text, pair, whose="Text B: ")


def _choose_model(page: OpenPage, a: Trace) -> Trace:
    ids, default = runs.model_ids(), parameters.OTHER_MODEL.default
    chosen = parameters.OTHER_MODEL.menu("Model B", ids, default if default in ids else ids[-1], width=320)
    other = available(chosen)
    return page.run(other, page.selection[parameters.TEXT], page.selection[parameters.PAIR], whose="Model B: ")


def _choose_random_weights(page: OpenPage, a: Trace, toy: bool) -> Pair:
    """Pair A with a run of the model before training."""
    seed, chosen = parameters.TWIN_SEED.choose("Seed of the random weights", width=240), page.selection
    b_is = f"**random weights** (seed {seed}), so this model has learned nothing"
    if not toy:
        b = page.run(twin_id(a.model.id, seed), chosen[parameters.TEXT], chosen[parameters.PAIR], whose="")
        return Pair(a, b, f"{quoted(a.model.id)} as trained", b_is)
    b = number_run(
        runs.toy(parameters.RANDOM, chosen[parameters.TOY_VOCABULARY], chosen[parameters.TOY_LENGTH], seed), a.text
    )
    return Pair(a, b, _chosen_toy(page, page.selection[parameters.TOY_WEIGHTS]), b_is)


def _choose_toy_sentence(page: OpenPage, a: Trace) -> Trace:
    """Pair A with a run of another of the toy's sentences."""
    wanted = parameters.TOY_OTHER.choose("Sentence B", width=160)
    every = toy_runs.sentences(page.selection).sentences
    if wanted > len(every):
        selection.note(f"The text has only {number_of(len(every), 'sentence')}, so B is the last one.")
    return number_run(a.model, as_text(every[min(wanted, len(every)) - 1]))


def _chosen_toy(page: OpenPage, kind: str) -> str:
    """Say in a few words whether a toy's weights are random, written by hand or trained."""
    if kind == parameters.RANDOM:
        return "toy with **random weights**, which has learned nothing"
    if kind == parameters.CONSTRUCTED:
        return "toy with **weights written by hand**"
    plan = toy_runs.plan(page.selection)
    run = toy_runs.run_of(plan)
    if run is None or run.latest.step == 0:
        return "toy **before training**, with random weights"
    return f"toy **trained live**, {run.latest.step} steps on “{plan.what.name}”"


def _choose_toy(page: OpenPage, a: Trace) -> Pair:
    """Pair the runs of this sentence through the chosen toy and through another toy."""
    kind, chosen = parameters.OTHER_TOY.choose("Toy B"), page.selection
    if kind == TRAINED:
        toy = toy_runs.toy(toy_runs.plan(chosen))
    else:
        toy = runs.toy(
            kind, chosen[parameters.TOY_VOCABULARY], chosen[parameters.TOY_LENGTH], chosen[parameters.TOY_SEED]
        )
    b = number_run(toy, a.text)
    return Pair(a, b, _chosen_toy(page, chosen[parameters.TOY_WEIGHTS]), _chosen_toy(page, kind))


def _choose_intervention(page: OpenPage, a: Trace, layer: int, head: int) -> Pair:
    """Pair this run with a run in which a single thing is changed."""
    change = parameters.CHANGE.choose("Change in B", width=320)
    query, key = choose_tokens(a, layer, head)
    if change == BLOCKED:
        show_sentence(a, query, key, of=(layer, head))
    changes, what = _chosen_change(a, change, (layer, head), (query, key))
    try:
        b = changed(a, changes)
    except TextError:
        raise  # numbers that grow too large are not a link that is missing
    except ValueError:
        st.info(
            f"{named(a, query)} attends only to {named(a, key)}. Without this link, it has nothing left to attend to. "
            "Choose another pair.",
            icon=":material/block:",
        )
        b = a
    if change == NO_SEGMENTS and a.model.config.segments == 0:
        st.info(f"{quoted(a.model.id)} has no segments, so there is nothing to leave out.", icon=":material/info:")
    if change == BLOCKED and a.model.config.causal and key > query:
        st.info("A causal model never looks ahead, so this pair is already masked.", icon=":material/info:")
    return Pair(a, b, f"{escaped(a.model.id)} as it is", f"{escaped(a.model.id)}, {what}")


def _chosen_change(a: Trace, change: str, place: tuple[int, int], tokens: tuple[int, int]) -> tuple[Interventions, str]:
    """Return the intervention, and describe its effect in words."""
    heads, head = frozenset({place}), f"head {place[1] + 1} of layer {place[0] + 1}"
    found: dict[str, tuple[Interventions, str]] = {
        ZERO_HEAD: (Interventions(zero_heads=heads), f"{head} **set to zero** before W\\_O"),
        MEAN_HEAD: (Interventions(mean_heads=heads), f"{head} **set to its mean** over the tokens, before W\\_O"),
        UNIFORM_HEAD: (Interventions(uniform_heads=heads), f"{head} **attends alike to all tokens that it may see**"),
        NO_SCALING: (Interventions(no_scaling=True), "scores **not divided by √d\\_k**"),
        NO_POSITIONS: (Interventions(no_positions=True), "**without positions**"),
        NO_SEGMENTS: (Interventions(no_segments=True), "**without segment embeddings**"),
        BLOCKED: (
            Interventions(blocked=frozenset({tokens})),
            f"{named(a, tokens[0])} **may not attend** to {named(a, tokens[1])}",
        ),
    }
    return found[change]
