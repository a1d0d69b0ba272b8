"""Is attention an explanation? The page: what is asked, drawn and said of the result, the learner's own order, and the
texts behind the means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.flow.rollout import rollout
from lab.analysis.heads.values import Values
from lab.analysis.ranks import rank_correlation
from lab.charts.base.axes import Axis, AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.marks.lines import lines
from lab.course.words import escaped, quoted, signed
from lab.evidence.intervals import mean_interval
from lab.evidence.published import ABNAR
from lab.evidence.reasons import LABELS, why
from lab.evidence.verdicts import Verdict
from lab.experiments.explanation.agreement import BOUND, CLAIMS, ROLLED, TELLS, WEAK
from lab.experiments.explanation.measure import (
    MEASUREMENT,
    TEXTS,
    WORDS,
    ExplanationTest,
    TestedOrderClaim,
    asked_texts,
    result,
    untestable,
)
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
    STEPS,
    AskedWord,
    Importance,
    integrated_gradients,
    without_each,
)
from lab.models.encoding import word_of
from lab.models.interventions import Interventions
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.questions.bets import Belief, Bet
from lab.questions.question import Right
from lab.ui import runs
from lab.ui.drawing import draw
from lab.ui.drawing import show_numbers as offer_numbers
from lab.ui.experiments.experiment import Experiment
from lab.ui.experiments.page import asking_step, look_there
from lab.ui.experiments.reproduced import NOTHING, Lines, markdown, two, with_ends
from lab.ui.experiments.two_kinds import two_kinds
from lab.ui.parameter_kinds import Parameter
from lab.ui.parameters import FLOW_LAYER, TOKEN
from lab.ui.tables import DECIMAL, Column, show_table

# What is asked.


# The orders of tokens that the bet is about, in its order, with their names on screen.
_ORDERS = {
    ATTENTION: "attention in the last layer",
    GRADIENT: "the gradient",
    NEAR: "nearness",
}
# The two numbers that each claim compares in each text.
COMPARED = {
    WEAK: ("gradient × input, τ", "attention of the last layer, τ"),
    TELLS: ("attention of the last layer, ρ beyond nearness and rarity", "nothing"),
    ROLLED: ("rollout, upper layers, ρ", "raw attention, upper layers, ρ"),
}
_SAYS = {
    WEAK: "Gradients say more than attention",
    TELLS: "Attention says something beyond nearness",
    ROLLED: "Rollout says more than attention in the upper layers",
}
BET = Bet(
    "best",
    "The order by blanking says how much the answer depends on each word. Which other order comes nearest to it?",
    (
        Belief(
            "The order by attention in the last layer",
            "The tokens that the model looks at most should matter most.",
            "attention would agree best with the order by blanking",
        ),
        Belief(
            "The order by a gradient",
            "A gradient says how fast the answer changes with a word, and blanking measures such a change.",
            "the gradient would agree best with the order by blanking",
        ),
        Belief(
            "The order by nearness to the missing word",
            "Words that belong together are usually close together.",
            "nearness would agree best with the order by blanking",
        ),
    ),
)


def decided(found: ExplanationTest) -> Right | None:
    """Answer by the order that agrees best, unless 0 is in the interval of its lead."""
    first, second = sorted(_ORDERS, key=lambda name: -_last(found, name).mean())[:2]
    if mean_interval(_last(found, first) - _last(found, second))[0] <= 0:
        return None
    told = (
        f"Its agreement with the order by blanking (Spearman’s ρ) "
        f"is {signed(_last(found, first).mean())}. The next best order, by "
        f"{_ORDERS[second]}, has {signed(_last(found, second).mean())}."
    )
    return list(_ORDERS).index(first), told


def _last(found: ExplanationTest, name: str) -> Values:
    """The ρ with leave-one-out in the last layer, (texts,)."""
    return np.asarray(found.own.rho[name][:, -1])


# The figures: they need nothing but the model, so a notebook can draw them again.


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
# The methods that get a line, no more than a reader can tell apart.
_DRAWN = (ATTENTION, AVERAGE, NORMS, ROLLOUT, GRADIENT, NEAR)
# Short names of the methods, because a map has room for only a dozen letters beside its cells.
_SHORT = {NORMS: "length", AVERAGE: "all layers", GRADIENT: "grad × input", INTEGRATED: "integrated"}
WHOSE = {
    WEAK: "Jain & Wallace 2019",
    TELLS: "after Wiegreffe & Pinter 2019",
    ROLLED: "Abnar & Zuidema 2020",
}


def layer_chart(model: LoadedModel) -> Figure:
    """Draw how each method agrees with leave-one-out after each layer, as a mean over the texts.

    A method without layers is a level line; integrated gradients are only in the table. Runs the experiment if its
    result neither ships nor is known yet. Raises ValueError for a model that the experiment cannot test.
    """
    rho = result(model).own.rho
    layers = rho[ATTENTION].shape[1]
    series = {NAMES[name]: np.broadcast_to(rho[name].mean(axis=0), layers) for name in _DRAWN}
    return lines(
        series,
        AxisPlaces("After layer"),
        Scale("Spearman’s ρ with leave-one-out", format=".2f"),
        title=f"Which methods order the tokens as leave-one-out does, in {model.id}",
    )


def agreement_chart(model: LoadedModel) -> Heatmap:
    """Draw how any two methods agree, in the last layer, as a mean over the texts."""
    names = [*(_SHORT.get(name, NAMES[name]) for name in METHODS), LEFT_OUT]
    axis = Axis("Method", names)
    return heatmap(
        result(model).between,
        (axis, axis),
        Scale("Spearman’s ρ", (-1.0, 1.0), ".2f", signed=True),
        title=f"How well any two methods agree in {model.id}",
    )


def method_table(model: LoadedModel) -> pd.DataFrame:
    """:func:`as_frame` of a model's result; runs the experiment if the result is not known yet."""
    return as_frame(result(model))


def as_frame(found: ExplanationTest) -> pd.DataFrame:
    """One line for each method or control: its ρ with leave-one-out in the last layer, the intervals, the twin's ρ."""
    lines = []
    for name, values in found.own.rho.items():
        low, high = mean_interval(values[:, -1]).tolist()
        beyond = found.beyond.get(name, np.full(len(values), np.nan))
        twin = found.twin.rho.get(name, np.full((1, 1), np.nan))
        beyond_low, beyond_high = mean_interval(beyond).tolist() if name in found.beyond else (np.nan, np.nan)
        lines.append(
            {
                "method": NAMES[name],
                "ρ": values[:, -1].mean(),
                "low": low,
                "high": high,
                "beyond": beyond.mean(),
                "beyond, low": beyond_low,
                "beyond, high": beyond_high,
                "untrained twin": twin[:, -1].mean(),
                "n": len(values),
            }
        )
    return pd.DataFrame(lines)


def claim_frame(found: ExplanationTest) -> pd.DataFrame:
    """One line for each claim: the comparison, published and our values, the twin, interval, verdict and its reason."""
    return pd.DataFrame(
        [
            {
                "whose": WHOSE[row.claim],
                "verdict": LABELS[row.judged.verdict],
                "published": CLAIMS[row.claim],
                "ours": row.effect,
                "low": row.low,
                "high": row.high,
                "untrained twin": row.twin,
                "n": row.count,
                "first": COMPARED[row.claim][0],
                "mean of first": row.first,
                "second": COMPARED[row.claim][1],
                "mean of second": row.second,
                "p (Holm)": row.p,
                "p above the twin (Holm)": row.beside_twin.p,
                "why": why(row.judged),
            }
            for row in found.rows
        ]
    )


def layer_frame(found: ExplanationTest) -> pd.DataFrame:
    """One line for each layer: raw attention, lengths and rollout, beside Abnar & Zuidema's values if they have any."""
    rho = found.own.rho
    layers = rho[ATTENTION].shape[1]
    columns: dict[str, object] = {"layer": range(1, layers + 1)}
    columns |= {NAMES[name]: rho[name].mean(axis=0) for name in (ATTENTION, NORMS, ROLLOUT)}
    columns |= {f"twin, {NAMES[name]}": found.twin.rho[name].mean(axis=0) for name in (ATTENTION, ROLLOUT)}
    published = pd.DataFrame(
        {
            "layer": range(1, len(ABNAR[0]) + 1),
            "published, raw": ABNAR[0],
            "published, rollout": ABNAR[1],
        }
    )
    return pd.DataFrame(columns).merge(published, on="layer", how="outer")


# What is said.


def meaning_of(found: ExplanationTest, model_id: str) -> str:
    """Say how well attention and the plainest baselines agree with leave-one-out, and whether nearness does better."""
    attention, average, near = (float(_last(found, name).mean()) for name in (ATTENTION, AVERAGE, NEAR))
    said = (
        f"In {escaped(model_id)}, the order by attention in the last layer agrees with the order by blanking with a ρ "
        f"of **{signed(attention)}**. With attention averaged over all layers, ρ is {signed(average)}."
    )
    how = "does better, with a ρ of" if near > attention else "reaches a ρ of"
    return f"{said} Simply ranking the tokens by nearness to the blank, without any model, {how} {signed(near)}."


def verdict_of(found: ExplanationTest) -> str:
    """Name each claim with its verdict."""
    return "\n".join(["", *(f"- {_SAYS[row.claim]}: **{LABELS[row.judged.verdict]}**." for row in found.rows)])


def in_full(found: ExplanationTest) -> str:
    """State the interval, compare attention with nearness, with nearness removed, and with the untrained twin."""
    low, high = mean_interval(_last(found, ATTENTION)).tolist()
    ends = f"The 95 % interval of the last layer’s ρ is {signed(low)} to {signed(high)}."
    return " ".join([ends, _beside_nearness(found), _beside_twin(found)])


def _beside_nearness(found: ExplanationTest) -> str:
    near, attention = _last(found, NEAR), _last(found, ATTENTION)
    low, high = mean_interval(attention - near).tolist()
    said = f"Nearness alone reaches {signed(near.mean())}"
    if low > 0:
        said += ", clearly less."
    elif high < 0:
        said += ", clearly more."
    else:
        said += ", which is not clearly different."
    beyond = found.beyond[ATTENTION]
    low, high = mean_interval(beyond).tolist()
    clear = "clearly above 0" if low > 0 else "clearly below 0" if high < 0 else "not clearly different from 0"
    return (
        f"{said} With nearness and rarity held fixed, attention still has a ρ of {signed(beyond.mean())}, which is "
        f"{clear}."
    )


def yardstick_of(found: ExplanationTest) -> str:
    """Say which methods agree most and least, and which method agrees best with leave-one-out."""
    names = [*(NAMES[name] for name in METHODS), LEFT_OUT]
    pairs = {(one, two): float(found.between[one, two]) for one, two in combinations(range(len(names)), 2)}
    (most, high), (least, low) = max(pairs.items(), key=_value), min(pairs.items(), key=_value)
    best = max(range(len(METHODS)), key=lambda at: found.between[at, -1])
    return (
        f"Of all pairs of methods, {names[most[0]]} and {names[most[1]]} agree most (ρ = {signed(high)}), and "
        f"{names[least[0]]} and {names[least[1]]} agree least (ρ = {signed(low)}). The method closest to "
        f"leave-one-out is {names[best]} (ρ = {signed(found.between[best, -1])}). A low ρ says that two methods "
        "differ, but not which of "
        "them is wrong."
    )


def _value(pair: tuple[tuple[int, int], float]) -> float:
    return pair[1]


def _beside_twin(found: ExplanationTest) -> str:
    twin = found.twin.rho[ATTENTION][:, -1]
    low, high = mean_interval(_last(found, ATTENTION) - twin).tolist()
    clear = "clearly less than" if low > 0 else "clearly more than" if high < 0 else "not clearly different from"
    said = f"In the untrained twin, attention has a ρ of {signed(twin.mean())}. This is {clear} the trained model’s ρ."
    for row in found.rows:
        if row.judged.verdict is Verdict.ALSO_UNTRAINED:
            first, second = COMPARED[row.claim]
            said += (
                f" {first[0].upper()}{first[1:]}, leads {second} by {signed(row.effect)}; in the "
                f"twin, the lead is {signed(row.twin)}, which is not clearly different. So training may not be the "
                "cause."
            )
    return said


def compared(row: TestedOrderClaim) -> str:
    """Name the authors of the claim, and its two means."""
    first, other = COMPARED[row.claim]
    second = f", and {signed(row.second)} for {other}" if row.claim != TELLS else ""
    return f"{WHOSE[row.claim]}. Here, the mean is {signed(row.first)} for {first}{second}."


def gap_of(found: ExplanationTest) -> str:
    """Say how far the sum of the integrated gradients is from its exact value."""
    gaps = np.abs([text.importance.gap for text in found.texts])
    changes = np.abs([text.importance.change for text in found.texts])
    return (
        "Integrated gradients should add up to the drop in ln P when all tokens are blanked. In the median text, "
        f"their sum misses this drop by {np.median(gaps):.4f} nats; at most, it misses it by {gaps.max():.2f}. The "
        f"median drop is {np.median(changes):.2f}."
    )


# The learner's own order of one text's tokens.


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


def show_asked_order(model: LoadedModel, asked: AskedWord, *, open: bool) -> Trace:
    """Draw the text, and while it is ``open`` the tokens to be picked in order; returns the run of the text."""
    where = "to come next after" if asked.next else "in place of the mask in"
    names = token_names(model, asked)
    st.markdown(
        f"**Try it.** {escaped(model.id)} expects {quoted(_expected(model, asked))} {where}: *{escaped(asked.text)}* "
        f"On which tokens does this guess depend most? Pick at least {FEWEST} tokens, starting with the most important."
    )
    key = f"_order.{model.id}"
    kept = [at for at in st.session_state.get(f"{key}.kept", []) if at < len(names)]
    label = "Tokens, the most important first"
    st.markdown(label)  # the label of a disabled widget is too pale to read
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


def show_order(model: LoadedModel, found: ExplanationTest, number: int) -> Trace:
    """Say how many of the learner's picks are the tokens that matter most; draw, folded, every order of the text.

    Returns the run of the text.
    """
    asked, one = asked_texts(model)[number][2], found.texts[number].importance
    sizes = np.abs(one.left_out)
    picked: list[int] = st.session_state.get(f"_order.{model.id}.kept", [])
    each = [(NAMES[name], rank_correlation(one.sizes(name)[-1], sizes)) for name in (*METHODS, NEAR)]
    if len(picked) >= FEWEST:
        each.append(("your order", rank_correlation(own_order(picked, len(sizes)), sizes)))
        st.markdown(found_by(picked, sizes))
    with st.expander("Your sentence, token by token", icon=":material/table_rows:"):
        trace = show_asked_order(model, asked, open=False)
        show_table(order_frame(token_names(model, asked), one, picked))
        st.caption(
            f"**{LEFT_OUT.capitalize()}** says how much ln P of the expected word falls without the token. The table "
            "is sorted by the size of this change, whether ln P falls or rises. For methods that have a value in each "
            "layer, you see the last layer."
        )
        ranked = sorted(each, key=lambda pair: -np.nan_to_num(pair[1]))
        said = ", ".join(f"{name} {signed(rho)}" for name, rho in ranked)
        st.markdown(
            f"For this text, the orders agree with leave-one-out as follows (ρ): {said}. A single text proves "
            f"nothing, so the figure shows means over {len(found.texts)} texts."
        )
    return trace


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


# The texts behind the means.


def show_texts(model: LoadedModel, found: ExplanationTest) -> None:
    """Draw the texts in which attention and leave-one-out agree most, and others in which they agree least."""
    st.markdown(
        "The token that matters most by leave-one-out is green; the token with the largest weight in the last layer is "
        "orange. A token that is both is green."
    )
    rho = found.own.rho[ATTENTION][:, -1]
    asked = [each for _, _, each in asked_texts(model)]
    order = [at for at in np.argsort(-rho).tolist() if not NOT_PLAIN.search(asked[at].text)]
    half = len(order) // 2
    kinds = {"They agree": order[:half], "They do not": order[half:][::-1]}

    def draw(at: int, key: str) -> None:
        _show_case(model, asked[at], found.texts[at].importance, float(rho[at]), key)

    two_kinds(kinds, draw, "Other texts")


def _show_case(model: LoadedModel, asked: AskedWord, one: Importance, rho: float, key: str) -> None:
    with st.container(border=True):
        st.markdown(marked(model, asked, one))
        expected = word_of(model.tokenizer, one.predicted).strip("␣")
        st.caption(
            f"The model expects {quoted(expected)}, with the probability {np.exp(one.log_p):.2f}. The ρ of the two "
            f"orders is {signed(rho)}."
        )
        with st.container(horizontal=True):
            flow: dict[Parameter[Any], Any] = {TOKEN: asked.place + 1, FLOW_LAYER: 0}
            look_there("flow", asked.text, flow, f"_experiment.flow.{key}", "rollout")
            look_there("masked-language-model", asked.text, {}, f"_experiment.lesson.{key}", asking_step(model))


def marked(model: LoadedModel, asked: AskedWord, one: Importance) -> str:
    """The text as Markdown: blue is the asked place, orange the token with most attention, green the one that matters.

    Words are spelled as in the text: a token that is a part of a word is coloured inside the word.
    """
    heaviest, most = one.scores[ATTENTION][-1].argmax(), np.abs(one.left_out).argmax()
    colours = {asked.context[int(heaviest)]: "orange", asked.context[int(most)]: "green"}
    if not asked.next:
        colours[asked.place] = "blue"
    text, read, marked = asked.encoding.text, 0, ""
    for at, (start, end) in enumerate(asked.encoding.offsets):
        piece = text[max(start, read) : end].strip()
        if asked.encoding.special[at] or not piece:
            continue
        begins = text.index(piece, read)
        between, read = text[read:begins], begins + len(piece)
        marked += " " if between.isspace() else escaped(between)
        marked += f":{colours[at]}-background[{escaped(piece)}]" if at in colours else escaped(piece)
    return marked


# The page.


_TWIN = Column("untrained twin", 80, DECIMAL, "twin", "The untrained twin: the same model with random weights.")
_METHOD_COLUMNS = (
    Column("method", 170),
    *(Column(name, 80, DECIMAL) for name in ("ρ", "low", "high", "beyond")),
    *(Column(name, 104, DECIMAL) for name in ("beyond, low", "beyond, high")),
    _TWIN,
    Column("n", 50),
)
_CLAIMS = (
    Column("whose", 122),
    Column("verdict", 90),
    Column("first", 140),
    Column("mean of first", 58, DECIMAL, "mean"),
    Column("second", 132),
    Column("mean of second", 58, DECIMAL, "mean"),
    Column("ours", 54, DECIMAL, help="The difference between the two means."),
    Column("low", 52, DECIMAL),
    Column("high", 52, DECIMAL),
    Column("published", 82, DECIMAL),
    replace(_TWIN, width=54),
    Column("n", 46),
)
_LAYERS = (
    Column("layer", 60),
    *(Column(name, 110, DECIMAL) for name in ("raw attention", "length of what arrives", "rollout")),
    *(
        Column(f"twin, {name}", 110, DECIMAL, f"twin: {short}")
        for name, short in (("raw attention", "raw"), ("rollout", "rollout"))
    ),
    *(Column(f"published, {name}", 130, DECIMAL, f"published: {name}") for name in ("raw", "rollout")),
)


def show_before(model: LoadedModel) -> None:
    """Ask for an order of the tokens of one text."""
    show_asked_order(model, asked_texts(model)[example(model)][2], open=True)


def method(model: LoadedModel) -> str:
    """Say in full how the claim is tested on a model; "" if the model cannot be tested."""
    if untestable(model):
        return ""
    hidden, blank = (
        (
            "The text ends before the word",
            "the mean of all word vectors, because the vocabulary has no mask. The model never met this vector in "
            "training",
        )
        if model.config.causal
        else ("The word is masked", "the mask, which the model knows from its training")
    )
    return (
        f"The lab asks {escaped(model.id)} for one word in each of {len(asked_texts(model))} sentences of UD English "
        f"EWT, which have {WORDS[0]} to {WORDS[-1]} words. {hidden}. The methods explain ln P of the word that the "
        "model finds most likely. **Leave-one-out** puts a blank in the place of each token in turn and measures how "
        f"much ln P changes. The blank is {blank}.\n\n**Six methods** also put the tokens in order: **raw attention** "
        "(from the place of the word, averaged over heads), its mean over **all layers**, the **length of what "
        "arrives** "
        "(‖Σ α·f(x)‖, the vectors that attention adds), **rollout** (attention followed from layer to layer), "
        f"**gradient × input**, and **integrated gradients** ({STEPS} steps from a text of blanks). Gradients count by "
        "their size. Two orders are compared by **Spearman’s ρ**, text by text: 1 means the same order, 0 means that "
        "the orders have nothing in common, and −1 means the reverse order. **Kendall’s τ**, which Jain & Wallace "
        "use, says the same thing on another scale. We choose nothing after seeing the results, so all texts count."
    )


def show_in_full(_: LoadedModel, found: ExplanationTest) -> None:
    """Draw all that the result says, and how exact the integrated gradients are."""
    st.markdown(in_full(found))
    st.caption(gap_of(found))


def show_numbers(model: LoadedModel, found: ExplanationTest) -> None:
    """Draw the methods and the claims in numbers."""
    with st.expander("All methods in numbers", icon=":material/table_rows:"):
        _show_methods(model, found)
    with st.expander("The three claims in numbers, and why", icon=":material/table_rows:"):
        _show_claims(found)


def show_more(model: LoadedModel, found: ExplanationTest) -> None:
    """Draw how the methods agree among themselves, and layer by layer."""
    with st.expander(
        "Do the methods agree among themselves?", icon=":material/compare:", on_change="rerun", key="_methods_agree"
    ) as agree:
        if agree.open:
            _show_agreement(model, found)
    with st.expander("Layer by layer, beside the published figures", icon=":material/table_rows:"):
        show_table(layer_frame(found), _LAYERS)
        st.caption(
            "The published figures are those that Abnar & Zuidema (2020) report for blank-out in their model of six "
            "layers."
        )


def _show_methods(model: LoadedModel, found: ExplanationTest) -> None:
    show_table(as_frame(found), _METHOD_COLUMNS)
    st.caption(
        "**ρ** is the agreement with leave-one-out in the last layer, with its 95 % interval (2,000 bootstraps over "
        "the texts). **Beyond** is the partial ρ: the agreement that remains when nearness and rarity (how seldom the "
        "token occurs in these sentences) are held fixed. **Nearness alone** ranks a token higher the nearer it is to "
        "the blank. The **untrained twin** is the same model with random weights. It explains its own predictions, "
        "without integrated gradients."
    )
    offer_numbers(partial(method_table, model), "explanation-methods", partial(method_table, model))


def _show_agreement(model: LoadedModel, found: ExplanationTest) -> None:
    draw(partial(agreement_chart, model), "explanation-agreement")
    st.markdown(yardstick_of(found))
    st.caption(
        "Neely et al. 2022 find that for transformers, no two methods agree strongly. So a rank correlation alone "
        "cannot show that a method is wrong. Leave-one-out is itself only one more method, and it misses what two "
        "tokens say together."
    )


def _show_claims(found: ExplanationTest) -> None:
    show_table(claim_frame(found), _CLAIMS, long_texts=True)
    for row in found.rows:
        st.markdown(f"**{LABELS[row.judged.verdict].capitalize()}**: {compared(row)} {why(row.judged)}")


# Kendall's τ in the result files of Jain & Wallace 2019, for LSTMs that classify, by task: attention with
# leave-one-out, and gradients with leave-one-out.
JAIN = {"SST": (0.29, 0.66), "IMDb": (0.34, 0.52), "SNLI": (0.29, 0.24)}
_JAIN = ", ".join(f"{task} {signed(gradient - attention, plus=True)}" for task, (attention, gradient) in JAIN.items())


def reproduced(found: ExplanationTest) -> Lines:
    """A line for each claim."""
    lines = []
    for row in found.rows:
        (first, second), effect = COMPARED[row.claim], CLAIMS[row.claim]
        published = NOTHING if effect is None else two(effect)
        lines.append(
            (
                f"{first} {row.first:.2f}",
                f"{second} {row.second:.2f}",
                with_ends(row.effect, row.low, row.high),
                published,
                two(row.twin),
                f"{row.count}",
                LABELS[row.judged.verdict],
            )
        )
    return markdown(("what should agree more", "than", "difference", "published", "twin", "n", "verdict"), lines)


EXPERIMENT = Experiment(
    measurement=MEASUREMENT,
    show_before=show_before,
    bet=lambda _: BET,
    decided=decided,
    takes=lambda _: "The measurement takes two minutes for a small model and much longer for a large model.",
    help=f"The lab explains {TEXTS} predictions with every method, and then the untrained twin’s predictions.",
    show_first=lambda model, found: show_order(model, found, example(model)),
    figure=lambda model, _: partial(layer_chart, model),
    name="explanation-layers",
    caption=lambda *_: (
        "**Leave-one-out** blanks one token at a time. **ρ** is 1 if a method gives the same order as leave-one-out, "
        "and 0 if the two orders have nothing in common. A method that has only one value for the whole model is "
        "drawn as a horizontal line."
    ),
    meaning=meaning_of,
    verdict=verdict_of,
    show_in_full=show_in_full,
    show_numbers=show_numbers,
    rule=(
        "The effect is the difference between the two means, text by text. Abnar & Zuidema’s figure is a mean over the "
        "upper half of their layers. Nobody published a comparable figure for the other two claims, so a difference "
        f"counts if it is at least {BOUND}. Jain & Wallace measured LSTM classifiers, so their figures are not "
        "comparable. Their tasks also give different results: Kendall’s τ of gradients minus Kendall’s τ of "
        f"attention is {_JAIN}."
    ),
    show_more=show_more,
    data="texts",
    code=(without_each, integrated_gradients, rollout),
    cases="The texts behind the means",
    show_cases=show_texts,
    method=method,
    tables={"": reproduced},
)
