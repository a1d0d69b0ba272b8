"""Where is it kept? The page: what is asked, drawn and said of the result, the learner's own pair, and single pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from lab.charts.cells.heatmap import Heatmap
from lab.course.words import capital, escaped, head_name, in_words, signed
from lab.evidence.pairs import BLANK, can_be_asked
from lab.evidence.reasons import LABELS, Wording, why
from lab.evidence.verdicts import HOLDS
from lab.experiments.patching import claims
from lab.experiments.patching.claims import (
    ALIKE,
    CLAIMS,
    EARLY,
    LAST_LAYER,
    LATE,
    SUFFICES,
    WORKED,
    compared,
)
from lab.experiments.patching.learners_pair import share_map, show_own
from lab.experiments.patching.measure import (
    MEASUREMENT,
    PAIRS,
    TWIN_PAIRS,
    TWINS,
    PairRow,
    PatchingRow,
    PatchingTest,
    result,
)
from lab.experiments.patching.patches import SMALL, patching
from lab.figures import choices
from lab.models.interventions import Head, Interventions
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.questions.bets import Belief, Bet, between
from lab.questions.question import Right
from lab.ui import runs
from lab.ui.experiments.claim_table import NOTHING, ClaimLine, number, two_kinds, with_ends
from lab.ui.experiments.experiment import Experiment, show_reason
from lab.ui.experiments.page import asking_step, look_there
from lab.ui.parameters import PLACE

# Each claim in words, and the two numbers that it compares.
SAYS = {
    EARLY: "In early layers, the subject holds the number",
    LATE: "The asked token holds the number before the last layer",
    claims.BROUGHT: "At the asked token, attention’s output carries more of the number than the network’s",
    WORKED: "At the subject, the network’s output carries more of the number than attention’s",
    claims.RANKED: "A gradient ranks the heads as patches do",
    claims.FAILED: "The gradient errs more for the residual stream than for heads",
}
COMPARED = {
    EARLY: ("subject", "asked token"),
    LATE: ("last layer", "layer in which it takes over"),
    claims.BROUGHT: ("attention", "network"),
    WORKED: ("network", "attention"),
    claims.RANKED: ("rank correlation", "the lab’s limit"),
    claims.FAILED: ("relative error for the residual stream", "for heads"),
}
# Said with the verdict, whichever it is.
BY_CONSTRUCTION = "This is nearly true by construction: before attention has moved anything, only the subject differs."
LENGTHS = (
    "{longer} The network’s output in layer {ffn} is {network:.2f} times as long as the vector that enters the layer, "
    "and attention’s in layer {at} {attention:.2f} times."
)
LONGER, NOT_LONGER = "But a longer vector can carry more.", "The network’s vector is not the longer one."
REWORDED = (
    "The claims were written down before anything was patched, but three were worded anew in November 2026, when "
    "results were known: the second now asks in which layer the asked token takes over, where it had asked for a mean "
    "over the last half of the layers, and the third and fourth now compare only layers up to this one."
)
BET = Bet(
    "head",
    "Suppose that we patch the output of only one head at one token. How much of the difference can this single head "
    "bring back?",
    (
        Belief(
            "One head is enough for more than half",
            "A head that finds the subject could carry the number to the place where the model answers.",
            "one head at one token would bring back more than half of the difference",
        ),
        Belief(
            "No head alone brings back half",
            "The number may reach that place through many heads and layers, and each may carry only a part of it.",
            "each head at each token would bring back less than half of the difference",
        ),
    ),
)


@dataclass(frozen=True)
class PatchedHead:
    """The head and token that recover most on half A, with the share that they recover on half B, and its interval."""

    head: Head
    token: int
    share: float
    low: float
    high: float


def best_head(found: PatchingTest) -> PatchedHead:
    """Find the head and token that recover most on half A, and the share that they recover on half B."""
    means = found.carried[SUFFICES]
    layer, head, token = (int(at) for at in np.unravel_index(int(means.on_a.heads.argmax()), means.on_a.heads.shape))
    mean, low, high = (float(each.heads[layer, head, token]) for each in (means.on_b, means.low, means.high))
    return PatchedHead((layer, head), token, mean, low, high)


def decided(found: PatchingTest) -> Right | None:
    """Answer from the best head's share on half B, unless its interval reaches over one half."""
    best = best_head(found)
    option = between((best.low, best.high), (0.5,))
    where = f"{head_name(best.head)} at the {_token(found, best.token)}"
    ends = f"from {best.low:.0%} to {best.high:.0%}"
    told = f"The best single head, {where}, recovers {best.share:.0%}, with an interval {ends}."
    return None if option is None else (1 - option, told)


def _token(found: PatchingTest, token: int) -> str:
    return "asked token" if token == found.asked else escaped(found.tokens[token])


# The figures: they need nothing but the model, so a notebook can draw them again.


def template_map(model: LoadedModel) -> Heatmap:
    """Draw the share that each token's vector recovers after each layer, as a mean over half B.

    The table has each cell with its interval. Runs the experiment if its result neither ships nor is known yet.
    """
    found = result(model)
    means = found.carried[SUFFICES]
    drawn = share_map(means.on_b, choices.RESIDUAL_STREAM, choices.SUFFICES, found.tokens, (found.subject, found.asked))
    return replace(drawn, table=partial(cell_table, found))


def cell_table(found: PatchingTest) -> pd.DataFrame:
    """Every cell of :func:`template_map`: its share on B with interval, and on A."""
    means = found.carried[SUFFICES]
    after = [f"layer {at}" if at else "embeddings" for at in range(found.layers + 1)]
    values = {"recovers": means.on_b, "low": means.low, "high": means.high, "on A": means.on_a}
    cells = {"after": np.repeat(after, len(found.tokens)), "token": list(found.tokens) * len(after)}
    return pd.DataFrame(cells | {name: maps.residual.reshape(-1) for name, maps in values.items()})


# What is said.


def meaning_of(found: PatchingTest, model_id: str) -> str:
    """Say in which layer the asked token takes over, which claims hold by their verdicts, and one head's share."""
    crossing, name, best = found.crosses(SUFFICES), escaped(model_id), best_head(found)
    asked, subject = (found.carried[SUFFICES].on_b.residual[crossing, token] for token in (found.asked, found.subject))
    if crossing == found.layers:
        said = f"In {name}, the subject’s vector recovers more than the asked token’s after every layer but the last."
    else:
        said = (
            f"Up to layer {crossing - 1} of {name}, the subject’s vector alone recovers more than the asked token’s. "
            f"From layer {crossing} on, the asked token’s recovers more ({asked:.0%} against {subject:.0%})."
        )
    return (
        f"{said} The best single head, {head_name(best.head)} at the {_token(found, best.token)}, recovers "
        f"{best.share:.0%}. {held(found)}"
    )


def held(found: PatchingTest) -> str:
    """Say which of the claims about places hold in both directions, by their verdicts; not the one by construction."""
    about = [row for row in found.rows if row.claim.direction and row.claim.id != EARLY]
    names = {row.claim.id for row in about}
    failed = {row.claim.id for row in about if row.judged.verdict not in HOLDS}
    count = in_words(len(names - failed)) if names - failed else "none"
    holds = "holds" if len(names - failed) < 2 else "hold"
    told = f"Apart from the first claim, which is nearly true by construction, {count} of the three about places"
    verdicts = {
        each: " or ".join(dict.fromkeys(LABELS[row.judged.verdict] for row in about if row.claim.id == each))
        for each in failed
    }
    open = " and ".join(f"“{SAYS[each]}” is *{verdicts[each]}*" for each in SAYS if each in failed)
    return f"{told} {holds} both ways; {open}." if failed and names - failed else f"{told} {holds} both ways."


def line(found: PatchingTest, row: PatchingRow) -> ClaimLine:
    """Return a claim as a line of the table."""
    effect, unit = row.effect, f" {row.claim.unit}" * bool(row.claim.unit)
    one, other = COMPARED[row.claim.id]
    twin = effect.twin
    return ClaimLine(
        f"{SAYS[row.claim.id]} ({row.claim.direction})" if row.claim.direction else SAYS[row.claim.id],
        NOTHING,
        f"{with_ends(effect.estimate, effect.low, effect.high)}{unit}: {one} {number(row.first)}, {other} "
        f"{number(row.second)}",
        NOTHING if twin is None or row.twin is None else f"{with_ends(row.twin, twin.low, twin.high)}{unit}",
        effect.count,
        row.judged,
        why_of(found, row),
    )


def why_of(found: PatchingTest, row: PatchingRow) -> str:
    """Give the reason of the verdict on a claim, and what else one has to know of this claim."""
    told = why(row.judged, Wording(digits=2))
    if row.effect.untestable == LAST_LAYER:
        told = f"The asked token takes over in layer {found.layers}, the last one, where it must do so by construction."
    if row.claim.id == EARLY:
        return f"{told} {BY_CONSTRUCTION}"
    if row.claim.id == WORKED:
        chosen = found.chosen(row.claim.direction).subject
        sizes = {"attention": found.lengths[chosen.attention, 0], "network": found.lengths[chosen.ffn, 1]}
        longer = LONGER if sizes["network"] > sizes["attention"] else NOT_LONGER
        return f"{told} {LENGTHS.format(longer=longer, ffn=chosen.ffn + 1, at=chosen.attention + 1, **sizes)}"
    return told


# The page.


def show_untestable(model: LoadedModel, reason: str) -> None:
    """Draw the reason why the template cannot be tested; a pair of one's own needs only a model that predicts words."""
    try:
        can_be_asked(model)
    except ValueError:
        show_reason(model, reason)
        return
    st.info(f"**Not testable here.** {escaped(reason)} You can still patch a pair of your own.", icon=":material/info:")
    show_own(model)


def method(_: LoadedModel) -> str:
    """Say in full how the claim is tested, on any model."""
    return (
        "Two sentences differ in one noun, the **subject**. *The boys near the house \\_ old* is the **clean** "
        "sentence, *The boy near the house \\_ old* is the **corrupt** sentence, and *were* competes with *was*. The "
        "**asked token** is the place where the model answers: the mask, or the last token before the blank.\n\nThen "
        "we take the vector of one part at one token from the clean run and put it into the corrupt run. This is a "
        "**patch**. How far a vector **suffices** is how much of the difference between the two words it recovers: "
        "(patched − corrupt) / (clean − corrupt), each a logit of the right word minus that of the wrong word. The "
        "other way round, we put a corrupt vector into the clean run: what is lost says how much the part is "
        f"**needed**. A template makes {PAIRS} pairs. Layers are chosen on half **A** of the subjects and measured on "
        "half **B**, the other subjects, which may make fewer pairs. A pair whose two runs differ by less than "
        f"{SMALL} logits is left out.\n\n"
        f"The **untrained twin** is the same model with random weights. It is drawn {TWINS} times, and {TWIN_PAIRS} "
        "pairs of each half are patched in each; its interval holds the spread of the draws. Verdicts compare logits, "
        "as a share of the twin’s tiny difference is mostly noise. But then a twin whose two runs hardly differ cannot "
        "reach the model: the comparison shows that training made the difference, and not that it made the way."
    )


# The claims that are checked for a single pair, which are the claims about the residual stream.
_LOOKED_AT = [at for at, claim in enumerate(CLAIMS) if claim.direction == SUFFICES and claim.id in (EARLY, LATE)]


_ALIKE = "First the subject, then the asked token"


def as_claimed(row: PairRow) -> bool:
    """Return whether a pair, patched into the corrupt run, follows both claims: subject early, asked token late."""
    return bool((row.numbers[_LOOKED_AT, 0] > row.numbers[_LOOKED_AT, 1]).all())


def show_pairs(model: LoadedModel, found: PatchingTest) -> Trace | None:
    """Draw pairs of B that follow the claim and pairs that do not; returns the first pair's run."""
    pairs = found.half(1)
    kinds = {
        title: [row for row in pairs if as_claimed(row) == right]
        for title, right in ((_ALIKE, True), ("Another order", False))
    }
    st.markdown(
        f"In {len(kinds[_ALIKE])} of the {len(pairs)} pairs of B, the subject’s vector recovers more in early "
        f"layers, and the asked token’s from some later layer on, before the last one. {len(found.refused)} pairs of A "
        f"and B, whose two runs differ by less than {SMALL} logits, were not patched."
    )
    shown = two_kinds(kinds, lambda row, key: _show_pair(model, found, row, key), "Other pairs")
    return runs.run(model.id, _asked_text(model, shown[0].pair.text), "", Interventions()) if shown else None


def _show_pair(model: LoadedModel, found: PatchingTest, row: PairRow, key: str) -> None:
    pair, (early, late) = row.pair, row.numbers[_LOOKED_AT]
    with st.container(border=True):
        st.markdown(f"{_written(pair.text)}  \nCorrupt: {_written(pair.other)}")
        st.caption(
            f"The logit of **{escaped(pair.good)}** minus that of **{escaped(pair.bad)}** is {signed(row.clean)} in "
            f"the clean run and {signed(row.corrupt)} in the corrupt run. In early layers, the subject recovers "
            f"{signed(early[0])} logits, and the asked token {signed(early[1])}. The asked token "
            f"takes over in layer {late[1]:.0f} of {late[0]:.0f}."
        )
        text = _asked_text(model, pair.text)
        place: dict[Any, Any] = {PLACE: found.asked + 1}
        look_there("masked-language-model", text, place, f"_experiment.lesson.{key}", asking_step(model))


def _asked_text(model: LoadedModel, text: str) -> str:
    """The text that the model reads: with the model's own mask as the blank, or up to the blank."""
    mask = model.mask
    if model.config.causal or mask is None:
        return text.partition(BLANK)[0].rstrip()
    return text.replace(BLANK, mask[0])


def _written(text: str) -> str:
    return escaped(text).replace("\\_", ":blue-background[**\\_**]")


NOTE = (
    "Each figure is the first number minus the second, a mean over the pairs of B with its 95 % interval (over "
    "nouns, verbs and twins). *Suffices*: a clean vector in the corrupt run; *needed*: a corrupt vector in the clean "
    "run."
)
EXPERIMENT = Experiment(
    measurement=MEASUREMENT,
    show_untestable=show_untestable,
    bet=lambda _: BET,
    decided=decided,
    takes=lambda _: "The measurement takes some minutes for a small model and much longer for BERT base.",
    help="The lab patches every part at every token of every pair, both ways, and then some pairs in each twin.",
    figure=lambda model, _: partial(template_map, model),
    name="template-patches",
    caption=lambda _, found: (
        f"The share of the difference that each token’s vector recovers after each layer, a mean over "
        f"{len(found.half(1))} pairs of half B; 1 is the whole difference, {found.gap:.1f} logits. "
        f"{capital(escaped(found.tokens[found.asked]))} is the **asked token**, where the model answers."
    ),
    meaning=meaning_of,
    claims=lambda found: [line(found, row) for row in found.rows],
    note=NOTE,
    head=lambda found: best_head(found).head,
    show_own=show_own,
    method=method,
    rule=(
        "The effect is the first number minus the second. No paper says how large it must be. So it counts from a "
        f"tenth of the difference between the two runs on, from half a layer, or from a rank correlation or error of "
        f"0.1. Two orders are alike from a rank correlation of {ALIKE} on, a limit that the lab chose. "
        f"{REWORDED} The template was changed once, before these results: with the first one, both directions "
        "gave the same numbers by symmetry. The first measurement compared shares, with one twin: six of ten verdicts "
        "on the default model were *inconclusive*."
    ),
    data="pairs",
    cases="The pairs behind the means",
    show_cases=show_pairs,
    code=(patching, compared),
)
