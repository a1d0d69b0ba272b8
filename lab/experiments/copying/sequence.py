"""One sequence that a reader can follow: words twice in a row, where a head looks in them, and what it changes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from lab.course.words import escaped
from lab.experiments.copying.induction import losses
from lab.experiments.copying.measure import CopyingTest
from lab.models.encoding import encode
from lab.models.interventions import Head, Interventions
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.ui import runs
from lab.ui.experiments.page import look_there
from lab.ui.parameter_kinds import Parameter
from lab.ui.parameters import HEAD, HEADS, KEY_TOKEN, LAYER, TOKEN
from lab.ui.screen import DECIMAL, Column, show_table

WORDS = 12  # in one copy
_TRIES = 200
_TURN = "_experiment_sequence"
# A whole word in GPT-2's vocabulary: the space before the word (as Ġ), then letters.
_WHOLE = re.compile("Ġ[a-z]{3,9}")


@dataclass(frozen=True)
class SequencePlace:
    """A token of the second copy: the place after its first occurrence, the head's favourite place, and losses.

    ``query``, ``sought`` and ``most`` count from 0. ``weight`` is the attention that the head gives to ``sought``;
    ``plain`` and ``without`` are the loss of the next token, in nats, with all heads and without this one.
    """

    query: int
    sought: int
    most: int
    weight: float
    plain: float
    without: float


def readable(model: LoadedModel, seed: int) -> str:
    """Words (or beginnings of words) of one token each, in random order, given twice; "" if the vocabulary has none.

    A text has no space before its first word, so that word is a different token in the second copy.
    """
    whole = sorted(token[1:] for token in model.tokenizer.get_vocab() if _WHOLE.fullmatch(token))
    if len(whole) < WORDS:
        return ""
    rng = np.random.default_rng(seed)
    for _ in range(_TRIES):
        words = [whole[at] for at in rng.choice(len(whole), size=WORDS, replace=False)]
        text = " ".join(words * 2)
        ids = encode(model.tokenizer, model.config, text, None).token_ids
        if len(ids) == 2 * WORDS and ids[1:WORDS] == ids[WORDS + 1 :]:
            return text
    return ""


def places(trace: Trace, head: Head) -> list[SequencePlace]:
    """Every token of the second copy, except the first, which is another token there, and the last of the text."""
    layer, number = head
    weights = trace.layer(layer).attention[number].numpy()
    away = Interventions(zero_heads=frozenset({head}))
    plain, without = (losses(trace.model, [trace.encoding], changes)[0] for changes in (Interventions(), away))
    found = []
    for query in range(WORDS + 1, 2 * WORDS - 1):
        sought = query - WORDS + 1
        found.append(
            SequencePlace(
                query,
                sought,
                int(weights[query].argmax()),
                float(weights[query, sought]),
                float(plain[query]),
                float(without[query]),
            )
        )
    return found


def show_sequence(model: LoadedModel, found: CopyingTest) -> Trace | None:
    """Draw a sequence, the head's looks in it, and ways on; returns its run; None if :func:`readable` finds none."""
    turn = st.session_state.get(_TURN, 0)
    text = readable(model, turn)
    if not text:
        st.markdown(f"The vocabulary of {escaped(model.id)} has too few whole words for a readable sequence.")
        return None
    trace = runs.run(model.id, text, "", Interventions())
    head = found.best
    name = found.rows[0].name
    st.markdown(
        f"Here are {WORDS} words and beginnings of words in random order, followed by the same words again. Each row "
        f"of the table is a token of the second copy. It shows where head {name} looks most, how much attention the "
        "head gives to the token that came next last time, and the loss of the next token with and without the head."
    )
    here = places(trace, head)
    right = sum(place.most == place.sought for place in here)
    st.markdown(f"{_marked(trace, here)}")
    st.caption(
        f"At a green token, the head looks most at the token that came next last time ({right} of {len(here)} "
        "tokens). At an orange token, it looks elsewhere. In this copy, two words are not marked: the first is "
        "another token after a space, and no token follows the last."
    )
    show_table(sequence_frame(trace, here), _columns(name))
    best = max(here, key=lambda place: place.weight)
    chosen: dict[Parameter[Any], Any] = {
        LAYER: head[0] + 1,
        HEAD: head[1] + 1,
        TOKEN: best.query + 1,
        KEY_TOKEN: best.sought + 1,
    }
    with st.container(horizontal=True):
        view = chosen | {HEADS: str(head[1] + 1)}
        look_there("head-view", text, view, "_experiment.view")
        look_there("self-attention", text, chosen, "_experiment.lesson", "map")
        st.button("Another sequence", icon=":material/refresh:", key="_experiment_others", on_click=_turn)
    return trace


def sequence_frame(trace: Trace, here: list[SequencePlace]) -> pd.DataFrame:
    """One line for each place, with its token, the head's favourite token and the losses."""
    return pd.DataFrame(
        [
            {
                "token": trace.labels[place.query],
                "looks most at": trace.labels[place.most],
                "came next": trace.labels[place.sought],
                "weight": place.weight,
                "loss": place.plain,
                "loss without": place.without,
            }
            for place in here
        ]
    )


def _columns(name: str) -> list[Column]:
    words = [Column(each) for each in ("token", "looks most at", "came next")]
    numbers = [Column(each, format=DECIMAL) for each in ("weight", "loss")]
    return [*words, *numbers, Column("loss without", format=DECIMAL, heading=f"loss without {name}")]


def _marked(trace: Trace, here: list[SequencePlace]) -> str:
    """The second copy as Markdown: green where the head finds the next token, orange where it looks elsewhere."""
    found = {place.query: "green" if place.most == place.sought else "orange" for place in here}
    words = trace.text.split()
    return " ".join(
        f":{found[at]}-background[{escaped(word)}]" if at in found else escaped(word) for at, word in enumerate(words)
    )


def _turn() -> None:
    st.session_state[_TURN] = st.session_state.get(_TURN, 0) + 1
