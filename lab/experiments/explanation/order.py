"""The learner's own order of one text's tokens, and how it fares beside the methods."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads.parked import rank_correlation
from lab.analysis.heads.values import Values
from lab.course.words import escaped, quoted, signed
from lab.evidence.explanation.methods import METHODS, NEAR, AskedWord, Importance
from lab.evidence.explanation.replication import ExplanationTest, asked_texts
from lab.experiments.explanation.figures import LEFT_OUT, NAMES
from lab.models.encoding import word_of
from lab.models.interventions import Interventions
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.ui import runs
from lab.ui.tables import show_table

# Tokens of a text that is read at a glance, and how many of them make an order.
_SHORT, FEWEST = range(8, 14), 3
_TRIES = 2000
# What addresses and numbers are made of.
NOT_PLAIN = re.compile(r"[0-9@/\\_<>#]|\.\w")


def example(model: LoadedModel) -> int:
    """Which of the texts is put in order: the first that is short and plain, else the shortest.

    Best is one where the model expects a word: what a full stop rests on is no riddle.
    """
    asked = [each for _, _, each in asked_texts(model)]
    short = [at for at, one in enumerate(asked) if len(one.context) in _SHORT and not NOT_PLAIN.search(one.text)]
    if not short:
        return min(range(len(asked)), key=lambda at: len(asked[at].context))
    return next((at for at in short if _expected(model, asked[at]).isalpha()), short[0])


def _expected(model: LoadedModel, asked: AskedWord) -> str:
    """What the model finds most probable in the place that is asked about."""
    trace = runs.run(model.id, asked.text, "", Interventions())
    return word_of(model.tokenizer, int(trace.logits(asked.place)[0].argmax())).strip("␣")


def token_names(model: LoadedModel, asked: AskedWord) -> list[str]:
    """The tokens to be ordered, each with its number in the text: two may be spelt alike."""
    return [f"{place + 1} {word_of(model.tokenizer, asked.encoding.token_ids[place])}" for place in asked.context]


def ask_order(model: LoadedModel, asked: AskedWord, *, open: bool) -> Trace:
    """The text, what the model expects, and the tokens to be picked in order while it is ``open``; returns its run."""
    where = "to come next after" if asked.next else "in place of the mask in"
    names = token_names(model, asked)
    st.markdown(
        f"**Your order.** {escaped(model.id)} expects {quoted(_expected(model, asked))} {where}: "
        f"*{escaped(asked.text)}* Which tokens does that rest on? Pick {FEWEST} or more, the one that matters most "
        "first."
    )
    key = f"_order.{model.id}"
    kept = [at for at in st.session_state.get(f"{key}.kept", []) if at < len(names)]
    label = "Tokens, the most important first"
    st.markdown(label)  # the label of a widget that is switched off is too pale to be read
    st.multiselect(
        label,
        range(len(names)),
        kept,
        format_func=names.__getitem__,
        key=key,
        label_visibility="collapsed",
        disabled=not open,
        on_change=_keep,
        args=(key,),
        placeholder="Pick tokens in their order",
    )
    return runs.run(model.id, asked.text, "", Interventions())


def _keep(key: str) -> None:
    st.session_state[f"{key}.kept"] = list(st.session_state[key])


def show_order(model: LoadedModel, found: ExplanationTest, number: int) -> None:
    """Every order of the one text, the learner's among them, beside leave-one-out."""
    asked, one = asked_texts(model)[number][2], found.texts[number].importance
    picked: list[int] = st.session_state.get(f"_order.{model.id}.kept", [])
    show_table(as_frame(token_names(model, asked), one, picked))
    st.caption(
        f"**{LEFT_OUT.capitalize()}**: by how much ln P of the expected word falls without the token; the order goes "
        "by its size, up or down. Methods with layers: the last one."
    )
    each = [(NAMES[name], rank_correlation(one.sizes(name)[-1], np.abs(one.left_out))) for name in (*METHODS, NEAR)]
    if len(picked) >= FEWEST:
        yours = own_order(picked, len(asked.context))
        rho = rank_correlation(yours, np.abs(one.left_out))
        better = as_good(len(picked), np.abs(one.left_out), rho)
        st.markdown(
            f"**Your order** agrees with leave-one-out by ρ = **{signed(rho)}**. Of {_TRIES:,} random orders of as "
            f"many tokens, {better:.0%} agree as well or better."
        )
        each.append(("your order", rho))
    ranked = sorted(each, key=lambda pair: -np.nan_to_num(pair[1]))
    said = ", ".join(f"{name} {signed(rho)}" for name, rho in ranked)
    st.markdown(f"On this one text, by ρ: {said}. One text decides nothing; the means below are of {len(found.texts)}.")


def own_order(picked: Sequence[int], count: int) -> Values:
    """The learner's importance of each token, (count,): the first pick has the highest; those not picked share 0."""
    found = np.zeros(count)
    found[list(picked)] = np.arange(len(picked), 0, -1)
    return found


def as_good(picks: int, sizes: Values, rho: float) -> float:
    """The share of random orders of ``picks`` tokens that agree with ``sizes`` (m,) by ``rho`` or more."""
    rng = np.random.default_rng(0)
    order = own_order(range(picks), len(sizes))
    drawn = [rank_correlation(rng.permutation(order), sizes) for _ in range(_TRIES)]
    return float(np.mean(np.array(drawn) >= rho - 1e-9))


def as_frame(names: Sequence[str], one: Importance, picked: Sequence[int]) -> pd.DataFrame:
    """One line a token: what each method gives it; the most important by leave-one-out first."""
    columns: dict[str, object] = {"token": names, LEFT_OUT: one.left_out}
    columns |= {NAMES[name]: one.scores[name][-1] for name in METHODS}
    if len(picked) >= FEWEST:
        columns["your pick"] = [picked.index(at) + 1 if at in picked else None for at in range(len(names))]
    frame = pd.DataFrame(columns).round(3)
    return frame.sort_values(LEFT_OUT, key=lambda values: -values.abs(), ignore_index=True)
