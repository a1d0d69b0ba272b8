"""How does copying work? The page: what is asked, drawn and said of the result, and one sequence token by token."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from math import log
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.lines import lines
from lab.course.words import escaped, head_name, listed, signed
from lab.evidence.intervals import mean_interval
from lab.evidence.reasons import LABELS, why
from lab.evidence.verdicts import HOLDS
from lab.experiments.copying.induction import ABLATIONS, MEAN, ZERO, Distance, copying, losses
from lab.experiments.copying.measure import (
    BEST,
    BOTH,
    BOUND,
    DRAWS,
    MEASUREMENT,
    PERIOD,
    SOURCE,
    TEXTS,
    CopyingRow,
    CopyingTest,
    Rise,
    result,
)
from lab.models.encoding import encode
from lab.models.interventions import Head, Interventions
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.questions.bets import Belief, Bet, between
from lab.questions.question import Right
from lab.ui import parameters, runs
from lab.ui.drawing import show_numbers as offer_numbers
from lab.ui.experiments.experiment import Experiment, show_reason
from lab.ui.experiments.page import look_there
from lab.ui.experiments.reproduced import NOTHING, Lines, markdown, two, with_ends
from lab.ui.parameter_kinds import Parameter
from lab.ui.parameters import HEAD, HEADS, KEY_TOKEN, LAYER, TOKEN
from lab.ui.tables import DECIMAL, Column, show_table

# What is asked.


# The claim's names for the ablated heads.
AWAY = {BEST: "the best induction head", SOURCE: "the head it depends on", BOTH: "both of them"}
# Below the first share of its attention in a repetition, the head hardly looks; above the second, it looks as much.
_FEW_TO_ALL = (0.25, 0.75)
_STAYS = 0.1  # nats; up to this change, we say that a loss stays the same
# Shares of the way from the loss of a model with all tokens equally likely (0) to a loss of 0 nats (1).
_WEAK, _WELL = 0.25, 0.75
BET = Bet(
    "position",
    "In a text that repeats itself, the best head looks at the token that came next last time. How does it find that "
    "token?",
    (
        Belief(
            "It counts tokens back",
            "The second copy begins at a fixed distance, and many heads look at a fixed distance.",
            "it would look at that distance just as much in a text without repetition",
        ),
        Belief(
            "It looks for what came after the same token",
            "Only the same token shows how to go on, however far back it first occurred.",
            "it would hardly look at that distance in a text without repetition",
        ),
    ),
)


def decided(found: CopyingTest) -> Right | None:
    """Answer from the control for position, unless the head gives about half as much or the control is missing."""
    place = position(found)
    if place is None:
        return None
    repeated, fresh = float(place.repeated.mean()), float(place.fresh.mean())
    told = (
        f"In a text without repetition, the head gives {fresh:.2f} of its attention to that distance; in a text with "
        f"repetition, it gives {repeated:.2f}."
    )
    option = between((fresh / repeated, fresh / repeated), _FEW_TO_ALL)
    return None if option == 1 else (0 if option == 2 else 1, told)


def position(found: CopyingTest) -> Distance | None:
    """Find the control for position at the period of the other measurements; None if it was not measured."""
    return next((each for each in found.distances if each.period == found.period and each.repeated.mean() > 0), None)


# The figures: they need nothing but the model, so a notebook can draw them again.


def loss_chart(model: LoadedModel) -> Figure:
    """Draw the loss of each token of the second copy with all heads and without some, as a mean over the texts of B. A
    head that is away writes its mean. The experiment runs unless its result ships or is known already. Raises
    ValueError for a model that the experiment cannot test.
    """
    found = result(model)
    each = [run for kind in (BEST, SOURCE, BOTH) if (run := found.run(kind, MEAN))]
    series = {"all heads": found.plain.by_place}
    series |= {"neither" if run.kind == BOTH else f"no {run.name}": run.by_place for run in each}
    series["without a random head"] = np.mean([run.by_place for run in found.random(1, MEAN)], axis=0)
    second = {name: losses[found.period :] for name, losses in series.items()}
    # The loss, at every place, of a model that gives all tokens of the vocabulary the same probability.
    second["all alike"] = np.full(found.period - 1, found.alike)
    return lines(
        second,
        AxisPlaces("Token of the second copy", range(2, found.period + 1)),
        Scale("Loss, nats", format=".2f"),
        title=f"How well {model.id} copies, with and without its heads",
    )


def distance_frame(found: CopyingTest) -> pd.DataFrame:
    """The control for position: the best head's score at repeated tokens, and at other tokens at the same distance."""
    return pd.DataFrame(
        [
            {"tokens back": each.period - 1, "repeated": each.repeated.mean(), "not repeated": each.fresh.mean()}
            for each in found.distances
        ]
    )


def head_table(model: LoadedModel) -> pd.DataFrame:
    """:func:`as_frame` of a model's result; runs the experiment if the result is not known yet."""
    return as_frame(result(model))


def as_frame(found: CopyingTest) -> pd.DataFrame:
    """One line for each removal: the heads of the claim, then random heads, each taken away in both ways."""
    chosen = [_line(found, AWAY[row.kind], (row.zero, row.mean)) | _judged(row) for row in found.rows]
    random = [
        _line(found, "random head" if count == 1 else "random couple", both)
        for count in (1, 2)
        for both in zip(*(found.controls(count, ablation) for ablation in ABLATIONS), strict=True)
    ]
    return pd.DataFrame([*chosen, *random])


def _line(found: CopyingTest, what: str, both: tuple[Rise, ...]) -> dict[str, object]:
    zero, mean = both
    heads = zero.run.heads
    one = heads[0] if len(heads) == 1 else None
    nothing = float("nan")
    return {
        "away": what,
        "head": zero.run.name,
        "induction score": found.induction[one] if one else nothing,
        "previous-token score": found.previous[one] if one else nothing,
        "loss rises by": zero.rise,
        "low": zero.low,
        "high": zero.high,
        "at its mean": mean.rise,
        "at its mean, low": mean.low,
        "at its mean, high": mean.high,
    }


def _judged(row: CopyingRow) -> dict[str, object]:
    return {
        "decides": "0" if row.decides == ZERO else "mean",
        "beyond random": row.effect,
        "beyond, low": row.low,
        "beyond, high": row.high,
        "untrained twin": float("nan") if row.twin is None else row.twin,
        "p (Holm)": row.p,
        "n": len(row.zero.run.second),
        "verdict": LABELS[row.judged.verdict],
        "why": why(row.judged),
    }


def score_frame(found: CopyingTest) -> pd.DataFrame:
    """One line for each head of the model, the best first: its scores on A, where the best was chosen, and on B."""
    places = list(np.ndindex(found.induction.shape))
    frame = pd.DataFrame(
        {
            "head": [f"{layer + 1}-{head + 1}" for layer, head in places],
            "induction score": found.induction.reshape(-1),
            "induction score on A": found.chosen_on.reshape(-1),
            "previous-token score": found.previous.reshape(-1),
            "best head’s score falls by": found.dependence.reshape(-1),
        }
    )
    return frame.sort_values("induction score on A", ascending=False, ignore_index=True)


# What is said.


def meaning_of(found: CopyingTest, model_id: str) -> str:
    """Say how well the model copies, and how the loss rises without the best head, a random head, and both heads."""
    best, both = found.rows[0], found.run(BOTH, MEAN)
    said = (
        f"{_copies(found, model_id)} Without {head_name(found.best)} the loss of the second copy rises by "
        f"{signed(best.mean.rise)}; without a random head it rises by {signed(_random_rise(found, MEAN))}."
    )
    if both is None or found.source is None:
        return said
    rise = float((both.second - found.plain.second).mean())
    return f"{said} If its helper, {head_name(found.source)}, is taken away as well, the loss rises by {signed(rise)}."


def _random_rise(found: CopyingTest, ablation: str) -> float:
    return float(np.mean([control.rise for control in found.controls(1, ablation)]))


def in_full(found: CopyingTest) -> str:
    """State the rise if heads write 0, the largest possible rise, both heads' looks, the rise without both, caveats."""
    best = found.rows[0]
    at_0 = (
        f"When head {best.name} writes 0 instead of its mean, the loss rises by {signed(best.zero.rise)}. When a "
        f"random head writes 0, the loss rises by {signed(_random_rise(found, ZERO))}."
    )
    parts = [at_0, _bounded(found), _looks(found), _by_position(found), *_together(found), *_random(found)]
    return "\n\n".join(part for part in parts if part)


def _bounded(found: CopyingTest) -> str:
    """State the largest rise that lost copying can explain; if the head writes 0, the rise may be larger."""
    beyond = [row for row in found.rows if row.zero.rise > found.most_lost]
    said = (
        f"A model that copies nothing and gives every token the same probability has a loss of {found.alike:.2f}. So "
        f"losing all copying costs at most **{found.most_lost:.2f} nats**."
    )
    if not beyond:
        return said
    names = " and ".join(f"{row.name} ({signed(row.zero.rise)})" for row in beyond)
    return (
        f"{said} Here, the loss rises even more when a head writes 0: {names}. Part of this rise has nothing to do "
        "with copying, because the layers above get a vector that they never met in training. The mean disturbs these "
        "layers less, and the verdict uses the smaller effect."
    )


def _by_position(found: CopyingTest) -> str:
    """Say whether the best head looks for a token or for a distance."""
    place = position(found)
    if place is None:
        return ""
    repeated, fresh = place.repeated.mean(), place.fresh.mean()
    said = (
        f"In random text without repetition, head {_name(found.best)} gives {fresh:.2f} of its attention to the token "
        f"at that distance; in repeated text, it gives {repeated:.2f}"
    )
    return f"{said}. So the head looks for the token, not for the distance." if repeated > 2 * fresh else f"{said}."


def _looks(found: CopyingTest) -> str:
    """Say where the two heads look, and whether this agrees with the claim."""
    best, source = found.best, found.source
    said = f"Head {_name(best)} gives {found.induction[best]:.2f} of its attention to the token that followed last time"
    if source is None:
        return f"{said}. It is in the first layer, so no earlier head can help it."
    rank = 1 + int((found.previous > found.previous[source]).sum())
    place = "the largest share among all" if rank == 1 else f"number {rank} among all"
    told = (
        f"{said}. Head {_name(source)} gives {found.previous[source]:.2f} of its attention to the previous token, "
        f"{place} {found.previous.size} heads."
    )
    if rank > 1 or any(row.judged.verdict not in HOLDS for row in found.rows):
        return told
    return (
        f"{told} So the two heads can work together as the claim says. Head {_name(source)} tells each token which "
        f"token came before it. Head {_name(best)} looks for a token that once followed the current token."
    )


def _name(head: Head) -> str:
    return f"{head[0] + 1}-{head[1] + 1}"


def _together(found: CopyingTest) -> list[str]:
    """Say whether the loss rises further when the second head, after the first, is replaced by its mean.

    If the model already copies nothing without the first head, a further rise says nothing about copying.
    """
    one, both, source = found.run(BEST, MEAN), found.run(BOTH, MEAN), found.source
    if one is None or both is None or source is None:
        return []
    away = f"Without {one.name}, taking {_name(source)} away as well"
    more = both.second - one.second
    low, high = mean_interval(more).tolist()
    side = between((low, high), (-_STAYS, _STAYS))
    if side == 1:
        return [f"{away} hardly changes the loss. So {_name(source)} helps through {one.name}."]
    if max(one.second.mean(), both.second.mean()) >= found.alike:
        return [
            f"{away} tells us nothing about copying, because the model then does no better than a model that gives "
            "every token the same probability."
        ]
    if side == 2:
        return [
            f"{away} raises the loss by another {signed(more.mean())}. So {_name(source)} does more than help "
            f"{one.name}."
        ]
    return []


def _copies(found: CopyingTest, model_id: str) -> str:
    """Say whether the model copies, by its loss in the second copy."""
    first, second, alike = _first(found), _second(found), found.alike
    name = escaped(model_id)
    if second >= first:
        return f"**{name} does not copy:** its loss is {second:.1f} in the second copy and {first:.1f} in the first."
    if second >= alike:
        return (
            f"**{name} copies almost nothing:** its loss in the second copy is {second:.1f}, no lower than the loss of "
            f"a model that gives every token the same probability, {alike:.1f}."
        )
    share = (alike - second) / alike
    how = "weakly" if share < _WEAK else "in part" if share < _WELL else "well"
    return f"**{name} copies {how}:** its loss falls from {first:.1f} in the first copy to {second:.1f} in the second."


def _first(found: CopyingTest) -> float:
    return float(found.plain.by_place[: found.period - 1].mean())


def _random(found: CopyingTest) -> list[str]:
    """Name the random head without which the loss rises most, if it rises at least half as much as without the best."""
    most = max(found.controls(1, MEAN), key=lambda control: control.rise)
    (head,) = most.run.heads
    best = found.rows[0]
    if best.judged.verdict not in HOLDS or most.rise < best.mean.rise / 2:
        return []
    score, other = found.induction[head], found.induction[found.best]
    said = f"Removing one of the random heads, {most.run.name}, raises the loss by {signed(most.rise)}"
    if score >= other / 2:
        return [f"{said}: its induction score is {score:.2f}, so it looks like an induction head itself."]
    return [f"{said}, though its induction score is only {score:.2f}."]


def what_a_loss_is(vocabulary: int) -> str:
    """Explain the measure, and its value for a model that knows nothing."""
    return (
        "The **loss** is −ln of the probability that the model gave the right next token. It is measured in "
        "**nats**, and a lower loss is better. A model that gives every token the same probability has a loss of "
        f"{log(vocabulary):.1f}."
    )


def _second(found: CopyingTest) -> float:
    return float(found.plain.second.mean())


def verdict_of(found: CopyingTest) -> str:
    """Name the verdict on each removal in one line; removals with the same verdict are named together."""
    alike: dict[str, list[str]] = {}
    for row in found.rows:
        alike.setdefault(LABELS[row.judged.verdict], []).append(AWAY[row.kind])
    said = (f"On the removal of {listed(away)}, the verdict is **{verdict}**." for verdict, away in alike.items())
    return " ".join(said)


def verdicts(found: CopyingTest) -> str:
    """List the verdict of each row and its reason; rows with the same verdict are together."""
    alike: dict[tuple[str, str], list[str]] = {}
    for row in found.rows:
        key = (LABELS[row.judged.verdict].capitalize(), why(row.judged))
        alike.setdefault(key, []).append(f"{AWAY[row.kind]} ({row.name})")
    return "\n".join(f"- **{verdict}**: {', '.join(rows)}. {reason}" for (verdict, reason), rows in alike.items())


def bias_of(found: CopyingTest) -> str:
    """Compare the best head's score on A, where it was chosen, with its score on B."""
    on_a, on_b = found.chosen_on[found.best], found.induction[found.best]
    said = f"The best head’s induction score is {on_a:.3f} on A, where it was chosen, and {on_b:.3f} on B"
    if on_a > on_b:
        return f"{said}. The difference is selection bias: the best of many heads owes part of its score to luck."
    return f"{said}. So choosing the best head caused no visible bias."


# A sequence that a reader can follow.


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


# The page.


TESTED = "lab-gpt2"  # a model that ships with the lab, and that the experiment can test
_AWAY = Column("away", 140), Column("head", 80)
_RISES = (
    Column("loss rises by", 70, DECIMAL, "at 0", "The rise of the loss when the head writes 0."),
    Column("low", 54, DECIMAL),
    Column("high", 54, DECIMAL),
    Column("at its mean", 70, DECIMAL, "at mean", "The rise of the loss when the head writes its mean."),
    Column("at its mean, low", 54, DECIMAL, "low"),
    Column("at its mean, high", 54, DECIMAL, "high"),
)
_SCORES = (
    Column(
        "induction score",
        76,
        DECIMAL,
        "induction",
        "The induction score of a single head. A pair of heads has no such score.",
    ),
    Column(
        "previous-token score",
        74,
        DECIMAL,
        "previous",
        "The previous-token score of a single head. A pair of heads has no such score.",
    ),
)
_BEYOND = (
    Column("decides", 66, help="The verdict uses the column named here, because its effect is the smaller of the two."),
    Column(
        "beyond random",
        72,
        DECIMAL,
        "beyond",
        "The rise of the loss minus its mean rise when random heads are removed.",
    ),
    Column("beyond, low", 54, DECIMAL, "low"),
    Column("beyond, high", 54, DECIMAL, "high"),
    Column("untrained twin", 56, DECIMAL, "twin", "The effect in the untrained twin."),
    Column("n", 46),
)
_DISTANCES = (
    Column("tokens back", 110),
    Column("repeated", 150, DECIMAL, "in repeated text"),
    Column("not repeated", 170, DECIMAL, "without repetition"),
)


def show_untestable(model: LoadedModel, reason: str) -> None:
    """Draw the reason why a model cannot be tested, and the way to one that can."""
    show_reason(model, reason)
    st.button(
        f"Choose {TESTED}",
        icon=":material/swap_horiz:",
        key="_experiment_model",
        on_click=parameters.MODEL.set,
        args=(TESTED,),
    )


def method(model: LoadedModel) -> str:
    """Say in full how the claim is tested on a model."""
    period = min(PERIOD, model.config.max_tokens // 2)
    return (
        f"Each of {TEXTS} texts consists of {period} random tokens, followed by the same tokens again. A model cannot "
        "guess the "
        "tokens of the first copy, but it can copy them in the second. A head’s **induction score** is the mean "
        "weight that it gives to the token that followed the current token last time. Its **previous-token score** is "
        "the mean weight that it gives to the previous token. On half **A** of the texts two heads are chosen: the "
        "**best "
        "induction head**, with the highest induction score, and the earlier head whose removal lowers that score "
        "most. On half **B** the lab removes each of the two heads, and then both. A removed head writes 0, or its "
        "mean over the text. As controls, the lab removes other single heads and other pairs of heads. If there are "
        f"more than {DRAWS} of them, {DRAWS} are drawn at random.\n\n"
        f"{what_a_loss_is(model.config.vocabulary)}"
    )


def caption(_: LoadedModel, found: CopyingTest) -> str:
    """Say what the lines of the figure are."""
    return (
        "The **loss** says how unlikely the model found the right token, so a lower loss is better. In the line **no "
        f"{found.rows[0].name}**, the output of {head_name(found.best)} is replaced by its mean. In the line **all "
        "alike**, every token gets the same probability."
    )


def show_in_full(_: LoadedModel, found: CopyingTest) -> None:
    """Draw all that the result says, and the control for position."""
    st.markdown(in_full(found))
    if found.distances:
        show_table(distance_frame(found), _DISTANCES)
        st.caption("Each number is a mean over B: the weight that the best head gives to the token at this distance.")


def show_numbers(model: LoadedModel, found: CopyingTest) -> None:
    """Draw every removal in numbers, and each verdict with its reason."""
    with st.expander("All numbers, and each verdict with its reason", icon=":material/table_rows:"):
        _show_tables(as_frame(found))
        st.caption(
            "**At 0** and **at mean** give the rise of the loss when the heads write 0 or their mean. The loss is "
            "taken over the second copy without its first token. **Beyond** is this rise minus the mean rise when as "
            "many random heads are removed. **Low** and **high** are the ends of the 95 % interval of this "
            "difference. The random heads are held fixed (2,000 bootstraps over the texts of B). The scores are means "
            "over B."
        )
        offer_numbers(partial(head_table, model), "copying-heads", partial(head_table, model))
        st.markdown(verdicts(found))


def show_scores(_: LoadedModel, found: CopyingTest) -> None:
    """Draw every head's scores."""
    with st.expander("Every head’s scores", icon=":material/table_rows:"):
        scores = score_frame(found)
        shown = dict.fromkeys(scores.columns[1:], "%.3f")
        show_table(scores, formats=shown)
        st.caption(
            f"{bias_of(found)} **Best head’s score falls by** says how much the best head’s score on A falls when "
            "this head is removed."
        )


def _show_tables(frame: pd.DataFrame) -> None:
    """Draw the heads of the claim, and the random heads below."""
    judged = frame["verdict"].notna()
    means = [each for each in _RISES if each.heading in ("at 0", "at mean")]
    show_table(frame[judged], [*_AWAY, Column("verdict", 100), *means, *_BEYOND], long_texts=True)
    with st.expander("Without random heads", icon=":material/casino:"):
        show_table(frame[~judged], [*_AWAY, *_RISES, *_SCORES], scrolls=True)


def reproduced(found: CopyingTest) -> Lines:
    """A line for each removal."""
    lines = [
        (
            f"{AWAY[row.kind]}, {row.name}",
            *(with_ends(each.rise, each.low, each.high) for each in (row.zero, row.mean)),
            with_ends(row.effect, row.low, row.high),
            NOTHING if row.twin is None else two(row.twin),
            f"{len(row.zero.run.second)}",
            LABELS[row.judged.verdict],
        )
        for row in found.rows
    ]
    return markdown(
        ("away", "loss rises by, at 0", "at their mean", "beyond random heads", "twin", "n", "verdict"), lines
    )


EXPERIMENT = Experiment(
    measurement=MEASUREMENT,
    show_untestable=show_untestable,
    bet=lambda _: BET,
    decided=decided,
    takes=lambda _: "The measurement takes half a minute for a small model and a few minutes for GPT-2.",
    help=("The model reads the texts again without each earlier head, then without the chosen heads and random heads."),
    figure=lambda model, _: partial(loss_chart, model),
    name="copying-loss",
    caption=caption,
    meaning=meaning_of,
    verdict=verdict_of,
    show_in_full=show_in_full,
    show_numbers=show_numbers,
    rule=(
        "The effect is the rise of the loss without these heads minus the mean rise without random heads. Heads are "
        "removed in two ways. The smaller effect counts, and the loss must clearly rise in both ways. The paper "
        f"reports no such figure, so an effect counts if it is at least {BOUND} nats."
    ),
    show_more=show_scores,
    data="texts",
    code=(copying,),
    cases="One sequence, token by token",
    show_cases=show_sequence,
    method=method,
    tables={"": reproduced},
)
