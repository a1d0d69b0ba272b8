"""Which heads does a model need? The page: what is asked, drawn and said of the result, and its tables."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.charts.base.axes import Scale
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.course.words import capital, escaped, in_words, signed
from lab.evidence.reasons import LABELS, Wording, why
from lab.evidence.verdicts import HOLDS, Because, Verdict
from lab.experiments.needed_heads import claims
from lab.experiments.needed_heads.ablations import ABLATIONS, gains, without_each_head
from lab.experiments.needed_heads.claims import EACH, MARGIN, NEEDED, MeasuredWay, TestedClaim, name_of
from lab.experiments.needed_heads.learners_head import show_own, show_pairs
from lab.experiments.needed_heads.measure import MEASUREMENT, PAIRS, TWIN, NeededTest, minutes, replicate, result
from lab.experiments.needed_heads.pruning import importance
from lab.figures.trace_axes import layers_and_heads
from lab.models.config import ModelConfig
from lab.models.loading import LoadedModel
from lab.questions.bets import Belief, Bet, between
from lab.questions.question import Right
from lab.ui.experiments.claim_table import NOTHING, ClaimLine, Lines, markdown, number, with_ends
from lab.ui.experiments.experiment import Experiment

POINTS = f"{100 * MARGIN:.0f} points"
CLAIMS = {
    EACH: "Most heads can be removed alone at little cost",
    NEEDED: "Some head is needed",
    claims.HURTS: "Some head even hurts",
    claims.ONE: "In most layers, one head is enough",
    claims.FIFTH: "A fifth of the heads can be removed together at little cost",
    claims.PRUNED: "Four fifths of the heads can be removed",
}
# The published results: tables 1, 2 and 3 and §4 of Michel et al. 2019, and Voita et al. 2019.
_EFFECTS = {NEEDED: "The loss", claims.HURTS: "The gain", claims.FIFTH: f"What is left of {POINTS}"}
PUBLISHED = {
    EACH: "in translation, removing any one of 88 of the 96 heads did not change BLEU significantly",
    NEEDED: "in translation, BLEU fell by 0.53 from 36.05 without head 6 of layer 1",
    claims.HURTS: "in translation, BLEU rose by 0.24 without head 14 of layer 3",
    claims.ONE: "BERT on MNLI lost at most 0.96 % (not significant), translation lost 13.56 BLEU in the worst layer",
    claims.FIFTH: "20 % of the heads in translation, 40 % in BERT",
    claims.PRUNED: "38 of 48 heads, for at most 0.15 BLEU (Voita et al.)",
}
_NEAR_HALF = 0.05  # a share so near to one half decides nothing
RULES = (
    "Each head is removed in two ways: it writes 0, or its mean over the sentence. The verdict uses the way that "
    f"supports the claim less. **At little cost** means that the accuracy falls by clearly less than {POINTS}, a "
    "tenth of the way from guessing to always right. **Clearly** means with 95 % confidence, by a bootstrap over the "
    "nouns and verbs that pairs share, corrected by Holm; if no pair changes, the interval reaches to 3 divided by the "
    "number of pairs, by the rule of three. All claims need a model that is clearly better than guessing.\n\n"
    "- *Most heads can be removed alone* holds if more than half of the heads cost little, jointly with 95 % "
    "confidence. The lower **bound** is the share of heads that clearly cost little. The upper bound also includes "
    "heads whose cost is uncertain.\n"
    "- *Some head is needed* (or *hurts*) holds if the accuracy on B clearly falls (or rises) without the head whose "
    "removal lowers the logit difference (or raises the accuracy) most on A.\n"
    "- *In most layers, one head is enough* holds if, in more than half of the layers, all heads but the one that "
    "alone gives the highest logit difference on A can be removed at little cost on B. This share has bounds, too.\n"
    "- *A fifth of the heads* holds if the heads with the lowest I_h on A can be removed together at little cost on B."
    f"\n\nNo paper has a figure on this scale. So a loss counts from {100 * claims.BOUNDS[NEEDED]:.0f} points of "
    f"accuracy on, a gain from {100 * claims.BOUNDS[claims.HURTS]:.0f} point, and a share from a tenth above one half. "
    "Only a loss or gain without one head is compared with the untrained twin, which guesses: it has nothing to lose."
)


def bet(config: ModelConfig) -> Bet:
    """Ask whether most heads of a model of this size matter when they are removed one at a time."""
    return Bet(
        "clear",
        f"We remove each of the {config.layers * config.heads} heads once and put it back. What do you expect?",
        (
            Belief(
                "Without most heads, nothing clearly changes",
                "Other heads may do the same work, or later layers may make up for the loss.",
                "fewer than half of the heads would clearly change the model’s preference for the right form",
            ),
            Belief(
                "Most heads clearly matter",
                "Training has no use for a head that does nothing.",
                "more than half of the heads would clearly change the model’s preference for the right form",
            ),
        ),
    )


def decided(found: NeededTest) -> Right | None:
    """Answer by the heads that clearly change the preference; a share within .05 of one half decides nothing."""
    clear, count = int(found.effect.clear.sum()), found.effect.mean.size
    option = between((clear / count - _NEAR_HALF, clear / count + _NEAR_HALF), (0.5,))
    told = f"{clear} of {count} heads clearly change the model’s preference for the right form."
    return None if option is None else (option, told)


def effect_map(model: LoadedModel) -> Heatmap:
    """Draw the change of the logit difference without each head, as a mean over all pairs.

    Runs the experiment if its result neither ships nor is known yet. The figure's table has intervals and p-values.
    Raises ValueError for a model that the experiment cannot test.
    """
    found = result(model)
    mean = found.effect.mean
    scale = Scale("Change of the logit difference", format="+.2f", signed=True)
    drawn = heatmap(mean, layers_and_heads(mean), scale, title=f"What changes when one head is removed from {model.id}")
    return replace(drawn, table=partial(effect_frame, found))


def effect_frame(found: NeededTest) -> pd.DataFrame:
    """One line for each head, the most needed first: the change of the logit difference, and of the accuracy."""
    effect, gained = found.effect, gains(found.changed, found.plain).mean(axis=-1)
    heads = {"head": [name_of(place) for place in np.ndindex(found.shape)]}
    columns = {"change": effect.mean, "low": effect.low, "high": effect.high, "p (Holm)": effect.p}
    frame = pd.DataFrame(heads | {name: each.reshape(-1) for name, each in columns.items()})
    frame["clear"], frame["change of the accuracy"] = effect.clear.reshape(-1), gained.reshape(-1)
    return frame.sort_values("change", ignore_index=True)


def meaning_of(found: NeededTest, model_id: str) -> str:
    """Say how many heads change the model's preference, and by their verdicts which claims hold."""
    each, clear = found.row(EACH), found.effect.clear
    if each.untestable:
        return why_of(each)
    cheap = f"{round(each.decides.low * clear.size)} of them clearly cost less than {POINTS} of accuracy each"
    verdict, most = each.judged.verdict, "most heads can be removed alone at little cost"
    said = capital(most) if verdict in HOLDS else f"The claim that {most} is *{LABELS[verdict]}* here"
    others = [row for row in found.rows if row.id != EACH and row.judged.verdict is not Verdict.NOT_TESTABLE]
    held = [f"“{CLAIMS[row.id]}”" for row in others if row.judged.verdict in HOLDS]
    count = in_words(len(held)) if held else "none"
    named = f" ({'; '.join(held)})" if held else ""
    return (
        f"**{int(clear.sum())}** of the {clear.size} heads of {escaped(model_id)} clearly change the model’s "
        f"preference for the right form, but a changed preference may give the same answer. Counted in right answers: "
        f"{said[0].lower() + said[1:]}, as {cheap}. Of the other {in_words(len(others))} claims that can be tested "
        f"here, {count} clearly {'hold' if len(held) > 1 else 'holds'}{named}."
    )


def line(row: TestedClaim) -> ClaimLine:
    """Return a claim as a line of the table."""
    at_0, at_mean = (measured(way, row.bounded) for way in (row.zero, row.mean))
    here = NOTHING if row.id == claims.PRUNED else f"{what_of(row)}: {at_0} at 0, {at_mean} at the mean"
    count = 0 if row.id == claims.PRUNED else row.count
    return ClaimLine(CLAIMS[row.id], PUBLISHED[row.id], here, twin_of(row), count, row.judged, why_of(row))


def measured(way: MeasuredWay, bounded: bool) -> str:
    """Write a share or a difference of accuracies in percent, with the ends of its interval or with its bounds."""
    ours, low, high = (100 * each for each in (way.ours, way.low, way.high))
    return with_ends(ours, low, high, 1).replace("(", "(bounds " if bounded else "(")


def twin_of(row: TestedClaim) -> str:
    """Write the untrained twin's figure with heads at 0, and the interval by the way that decides."""
    if row.beside_twin is None:
        return NOTHING
    low, high = 100 * row.beside_twin.low, 100 * row.beside_twin.high
    if row.decides is row.zero:
        return f"{with_ends(100 * row.twin, low, high, 1)} at 0"
    return f"{number(100 * row.twin, 1)} at 0; from {number(low, 1)} to {number(high, 1)} at the mean"


def what_of(row: TestedClaim) -> str:
    """Name the quantity that is measured for a claim."""
    return {
        EACH: f"percent of the {row.units} heads that cost little",
        NEEDED: f"points of accuracy lost without {', '.join(map(name_of, row.heads))}",
        claims.HURTS: f"points of accuracy gained without {', '.join(map(name_of, row.heads))}",
        claims.ONE: f"percent of the {row.units} layers for which one head is enough",
        claims.FIFTH: f"points of accuracy lost without {row.units} heads",
    }[row.id]


def why_of(row: TestedClaim) -> str:
    """Give the reason of the verdict on a claim, in percent or points."""
    if row.untestable == claims.GUESSES:
        return f"With all heads, the model is right in {row.right:.0%} of the pairs, not clearly better than guessing."
    if row.untestable == claims.RETRAINED:
        return "Voita et al. continue training while they prune. The lab does not retrain any weights."
    own, because = row.decides, row.judged.because
    if row.bounded and because is Because.TOO_WIDE:
        return f"The share may be anything from {100 * own.low:.1f} to {100 * own.high:.1f} percent."
    if row.id == claims.FIFTH and because in (Because.TOO_WIDE, Because.REACHES):
        ends = f"its interval is from {100 * own.low:.1f} to {100 * own.high:.1f} points, and p is {row.p:.2g}"
        return f"That the loss is less than {POINTS} is not clear: {ends}, corrected for the number of claims."
    return why(row.judged, Wording(_EFFECTS.get(row.id, "The share above one half"), 100, 1))


# Further tables in docs/reproduced.md.


def by_template(found: NeededTest) -> Lines:
    """A line for each template, with the claims about single heads, and the heads that a mean may hide."""
    lines = []
    for template, (each, one) in found.rows_in.items():
        costly = " ".join(name_of(head) for head in found.costly_in(template)) or NOTHING
        free, most = ([measured(way, row.bounded) for way in (row.zero, row.mean)] for row in (each, one))
        which, twin = name_of(one.heads[0]), twin_of(one)
        verdicts = [LABELS[row.judged.verdict] for row in (each, one)]
        lines.append((template, costly, *free, verdicts[0], which, *most, twin, f"{one.count:,}", verdicts[1]))
    free = ["cost little, heads at 0", "at their mean", "verdict"]
    most = ["most needed", "loss at 0", "at its mean", "twin", "n", "verdict"]
    return markdown(("template", "heads that cost 5 points", *free, *most), lines)


def together(found: NeededTest) -> Lines:
    """A line for each number of heads, with the accuracy on half B, in percent, by the order of their removal."""
    orders = (
        *((found.curves[name] > 0).mean(axis=1) for name in (claims.IMPORTANCE, claims.GREEDY)),
        found.random.mean(axis=0),
    )
    rows = zip(found.away.tolist(), *orders, strict=True)
    head = ("heads removed", "lowest I_h first", "greedily", f"at random, mean of {len(found.random)} orders")
    return markdown(head, ((f"{count}", *(number(100 * share, 1) for share in shares)) for count, *shares in rows))


# The replacements for the output of a head.
_REPLACED = "0", "its mean over the sentence", "its mean over all sentences", "its output in another sentence"
WAYS: dict[str, str] = dict(zip(ABLATIONS, (*_REPLACED, "equal attention"), strict=True))


def five_ways(found: NeededTest) -> Lines:
    """A line for each way and the untrained twin: on half B, the number of heads whose effect differs from 0."""
    lines = []
    for each in found.effects:
        falls, rises = (int((each.clear & side).sum()) for side in (each.mean < 0, each.mean > 0))
        largest = name_of(each.largest), signed(float(each.mean[each.largest]), plus=True)
        way = f"0, in the {TWIN}" if each.name == TWIN else WAYS[each.name]
        lines.append((way, f"{int(each.clear.sum())} of {each.mean.size}", f"{falls}", f"{rises}", *largest))
    clear = "heads that clearly change the logit difference"
    return markdown(("replacement", clear, "it falls", "it rises", "largest change without", "change"), lines)


def show_first(model: LoadedModel, found: NeededTest) -> None:
    """Say that the intervals are being computed, once for all visits, because it takes seconds."""
    with st.spinner("Computing the intervals …"):
        _ = found.rows


def method(model: LoadedModel) -> str:
    """Say in full how the claim is tested on a model."""
    asked = "after the words before it" if model.config.causal else "at the mask"
    return (
        f"Templates make at least {PAIRS} **minimal pairs**, such as *The boys near the tree* **are** or **is** *old*. "
        "One form fits, and the other does not. The **logit difference** is the logit of the good form minus the "
        f"logit of the bad form, {asked}. If it is above 0, the good form wins. The **accuracy** is the share of "
        "pairs in which the good form wins. The lab removes one head at a time: the head’s output becomes 0, or its "
        "mean over the sentence. A head, or an order of heads, is chosen on half **A** and measured on half **B**, "
        "which has other nouns. A gradient finds the least important heads. It gives **I_h**, which says how much the "
        "loss of the good form changes when the head’s output is multiplied by a factor. In each layer, all I_h are "
        "divided by their length as a vector, so that layers can be compared."
    )


def _time(model: LoadedModel) -> str:
    count = minutes(model.config)
    if count < 2:
        return "two minutes or less"
    return f"{count:.0f} minutes" if count < 90 else f"{count / 60:.0f} hours"


EXPERIMENT = Experiment(
    measurement=MEASUREMENT,
    bet=lambda model: bet(model.config),
    decided=decided,
    takes=lambda model: f"Measuring a model of this size takes about {_time(model)}.",
    help="The model reads every pair without each head, in five ways, and then with more and more heads removed.",
    show_first=show_first,
    figure=lambda model, _: partial(effect_map, model),
    name="needed-heads",
    caption=lambda _, found: (
        f"Each cell is a mean over {len(found.pairs)} pairs, with a head that writes 0. The **logit difference** says "
        "how much the model prefers the right form. Below 0, this preference is weaker without the head; above 0, it "
        "is stronger. The table in the figure’s corner says which changes are clear."
    ),
    meaning=meaning_of,
    claims=lambda found: [line(row) for row in found.rows],
    note=(
        "*At 0* and *at the mean*: heads write 0, or their mean over the sentence. *n*: different sentences, of half B "
        "where a head was chosen on half A. BLEU is a score for translations, from 0 to 100. MNLI asks whether one "
        "sentence follows from another."
    ),
    head=lambda found: found.row(NEEDED).heads[0],
    show_own=show_own,
    method=method,
    rule=RULES,
    data="pairs",
    cases="More pairs without this head",
    show_cases=show_pairs,
    code=(replicate, without_each_head, importance),
    tables={
        "Template by template": by_template,
        "Heads taken away together": together,
        "Five ways to take a head away": five_ways,
    },
)
