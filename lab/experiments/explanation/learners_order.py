"""The learner's own order of one text's tokens, beside the orders that the methods give."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads.values import Values
from lab.analysis.ranks import rank_correlation
from lab.course.words import escaped, quoted, signed
from lab.experiments.explanation.measure import asked_texts, known
from lab.experiments.explanation.methods import (
    ATTENTION,
    AVERAGE,
    GRADIENT,
    INTEGRATED,
    METHODS,
    NEAR,
    NORMS,
    RARE,
    ROLLOUT,
    AskedWord,
    Importance,
)
from lab.models.encoding import word_of
from lab.models.interventions import Interventions
from lab.models.loading import LoadedModel
from lab.ui import runs
from lab.ui.screen import show_table

LEFT_OUT = "leave-one-out"
NAMES = {
    ATTENTION: "raw attention",
    AVERAGE: "attention, all layers",
    NORMS: "length of what arrives",
    ROLLOUT: "rollout",
    GRADIENT: "gradient × input",
    INTEGRATED: "integrated gradients",
    NEAR: "nearness alone",
    RARE: "rarity alone",
}

# The lengths, in tokens, of a text that is quick to read, and the fewest tokens that make an order.
_SHORT_TEXT, FEWEST = range(8, 14), 3
# The beginning of the preferred text, if it suits the model, because everybody understands it.
_FIRST = "This is one of my favorite places to"
# Characters that occur in addresses and numbers.
NOT_PLAIN = re.compile(r"[0-9@/\\_<>#]|\.\w")


def example(model: LoadedModel) -> int:
    """Choose the text whose tokens are put in order: the easiest text, else a short and plain text, else the shortest.

    Among the short texts, take the first in which the model expects a word: nobody wants to know on which tokens a full
    stop depends.
    """
    asked = [each for _, _, each in asked_texts(model)]
    if (first := next((at for at, one in enumerate(asked) if one.text.startswith(_FIRST)), None)) is not None:
        return first
    short = [at for at, one in enumerate(asked) if len(one.context) in _SHORT_TEXT and not NOT_PLAIN.search(one.text)]
    if not short:
        return min(range(len(asked)), key=lambda at: len(asked[at].context))
    return next((at for at in short if _expected(model, asked[at]).isalpha()), short[0])


def _expected(model: LoadedModel, asked: AskedWord) -> str:
    """Find the word that the model expects at the asked place."""
    trace = runs.run(model.id, asked.text, "", Interventions())
    return word_of(model.tokenizer, int(trace.logits(asked.place)[0].argmax())).strip("␣")


def token_names(model: LoadedModel, asked: AskedWord) -> list[str]:
    """List the tokens to be ordered, each with its number in the text, because two may be spelt alike."""
    return [f"{place + 1} {word_of(model.tokenizer, asked.encoding.token_ids[place])}" for place in asked.context]


def question(model: LoadedModel, asked: AskedWord) -> str:
    """Say which word the model expects in the text, and ask on which tokens this depends."""
    where = "to come next after" if asked.next else "in place of the mask in"
    return (
        f"**Try it.** {escaped(model.id)} expects {quoted(_expected(model, asked))} {where}: *{escaped(asked.text)}* "
        "On which tokens does this guess depend most?"
    )


def show_before(model: LoadedModel) -> None:
    """Ask for an order of the tokens of one text."""
    asked = asked_texts(model)[example(model)][2]
    names = token_names(model, asked)
    st.markdown(f"{question(model, asked)} Pick at least {FEWEST} tokens, starting with the most important.")
    key = f"_order.{model.id}"
    st.multiselect(
        "Tokens, the most important first",
        range(len(names)),
        [at for at in st.session_state.get(f"{key}.kept", []) if at < len(names)],
        format_func=names.__getitem__,
        key=key,
        on_change=_keep,
        args=(key,),
        placeholder="Pick tokens in their order",
    )


def _keep(key: str) -> None:
    st.session_state[f"{key}.kept"] = list(st.session_state[key])


def show_own(model: LoadedModel) -> None:
    """Draw the learner's text token by token, with every order of its tokens; nothing without a result."""
    found = known(model)
    if found is None:
        return
    number = example(model)
    asked, one = asked_texts(model)[number][2], found.texts[number].importance
    st.markdown(question(model, asked))
    sizes = np.abs(one.left_out)
    picked: list[int] = st.session_state.get(f"_order.{model.id}.kept", [])
    each = [(NAMES[name], rank_correlation(one.sizes(name)[-1], sizes)) for name in (*METHODS, NEAR)]
    if len(picked) >= FEWEST:
        each.append(("your order", rank_correlation(own_order(picked, len(sizes)), sizes)))
        st.markdown(found_by(picked, sizes))
    show_table(order_frame(token_names(model, asked), one, picked))
    st.caption(
        f"**{LEFT_OUT.capitalize()}** says how much ln P of the expected word falls without the token. The table is "
        "sorted by the size of this change. For methods that have a value in each layer, you see the last layer."
    )
    ranked = sorted(each, key=lambda pair: -np.nan_to_num(pair[1]))
    said = ", ".join(f"{name} {signed(rho)}" for name, rho in ranked)
    st.markdown(f"For this text, the orders agree with leave-one-out as follows (ρ): {said}. One text proves nothing.")


def found_by(picked: Sequence[int], sizes: Values) -> str:
    """Count the picks among the same number of most important tokens, and compare with guessing. ``sizes`` (m,)."""
    count = len(picked)
    most = set(np.argsort(-sizes, kind="stable")[:count].tolist())
    hits = len(most & set(picked))
    return (
        f"**{hits} of your {count} tokens** are among the {count} tokens that matter most to the model. A random "
        f"guess would find {count * count / len(sizes):.1f} of them on average."
    )


def own_order(picked: Sequence[int], count: int) -> Values:
    """Turn picks into the importance of each token, (count,): the first pick gets the highest, tokens not picked 0."""
    found = np.zeros(count)
    found[list(picked)] = np.arange(len(picked), 0, -1)
    return found


def order_frame(names: Sequence[str], one: Importance, picked: Sequence[int]) -> pd.DataFrame:
    """One line for each token: its value by each method; the most important by leave-one-out first."""
    columns: dict[str, object] = {"token": names, LEFT_OUT: one.left_out}
    columns |= {NAMES[name]: one.scores[name][-1] for name in METHODS}
    if len(picked) >= FEWEST:
        columns["your pick"] = [picked.index(at) + 1 if at in picked else None for at in range(len(names))]
    frame = pd.DataFrame(columns).round(3)
    return frame.sort_values(LEFT_OUT, key=lambda values: -values.abs(), ignore_index=True)
