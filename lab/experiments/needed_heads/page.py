"""Which heads does a model need? The page: what is asked, drawn and said of the result, and the pairs behind it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.ranks import rank_correlations
from lab.charts.base.axes import Axis, AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.marks.lines import lines
from lab.course.words import escaped, head_name, signed
from lab.evidence.intervals import drawn_means, spread
from lab.evidence.lexicon import TEMPLATES
from lab.evidence.pairs import BLANK, MinimalPair, ask
from lab.evidence.reasons import LABELS, why
from lab.experiments.needed_heads.ablations import ABLATIONS, without_each_head
from lab.experiments.needed_heads.claims import (
    BOUNDS,
    EACH,
    FIFTH,
    GREEDY,
    GUESSES,
    HURTS,
    IMPORTANCE,
    MARGIN,
    NEEDED,
    ONE,
    PRUNED,
    RETRAINED,
    TestedClaim,
    name_of,
)
from lab.experiments.needed_heads.measure import (
    MEASUREMENT,
    PAIRS,
    RANDOM_ORDERS,
    SAMPLE,
    TWIN,
    NeededTest,
    minutes,
    replicate,
    result,
)
from lab.experiments.needed_heads.pruning import importance
from lab.experiments.needed_heads.sample import gains
from lab.figures.axes import layers_and_heads
from lab.models.config import ModelConfig
from lab.models.interventions import Head, Interventions
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.questions.bets import Belief, Bet, between
from lab.questions.question import Right
from lab.ui import runs
from lab.ui.drawing import draw
from lab.ui.drawing import show_numbers as offer_numbers
from lab.ui.experiments.experiment import Experiment
from lab.ui.experiments.page import asking_step, look_there
from lab.ui.experiments.reproduced import NOTHING, Lines, markdown, percent
from lab.ui.experiments.two_kinds import two_kinds
from lab.ui.parameter_kinds import Parameter
from lab.ui.parameters import HEAD, KEY_TOKEN, LAYER, MASKED, PLACE, TOKEN
from lab.ui.tables import DECIMAL, SHARE, Column, show_table

# What is asked.


CLAIMS = {
    EACH: "Most heads can be removed alone at little cost",
    NEEDED: "Some head is needed",
    HURTS: "Some head even hurts",
    ONE: "In most layers, one head is enough",
    FIFTH: "A fifth of the heads can be removed together at little cost",
    PRUNED: "Four fifths of the heads can be removed",
}
# The published results: tables 1, 2 and 3 and §4 of Michel et al. 2019, and Voita et al. 2019.
PUBLISHED = {
    EACH: "in translation, removing any one of 88 of the 96 heads did not change BLEU significantly",
    NEEDED: "in translation, BLEU fell by 0.53 from 36.05 without head 6 of layer 1",
    HURTS: "in translation, BLEU rose by 0.24 without head 14 of layer 3",
    ONE: "BERT on MNLI lost at most 0.96 %, which is not significant; translation lost 13.56 BLEU in the worst layer",
    FIFTH: "20 % of the heads in translation, 40 % in BERT",
    PRUNED: "38 of 48 heads, for at most 0.15 BLEU (Voita et al.)",
}
POINTS = f"{100 * MARGIN:.0f} points"
# Where a share is so near to one half, the count decides nothing.
_NEAR_HALF = 0.05
# The rule that each verdict follows.
RULES = (
    "Each head is removed in two ways: it writes 0, or its mean over the sentence. The verdict uses the way that "
    f"supports the claim less. **At little cost** means that the accuracy falls by clearly less than {POINTS}, a "
    "tenth of the way from guessing to always right. **Clearly** means with 95 % confidence, by a bootstrap over the "
    "nouns and verbs that pairs share, corrected by Holm. All claims need a model that is clearly better than "
    "guessing.\n\n"
    "- *Most heads can be removed alone* holds if more than half of the heads cost little, jointly with 95 % "
    "confidence. “Low” is a **lower bound**: the share of heads that clearly cost little. “High” also includes heads "
    "whose cost is uncertain.\n"
    "- *Some head is needed* holds if the accuracy on B clearly falls without the head whose removal lowers "
    "the logit difference most on A.\n"
    "- *Some head even hurts* holds if the accuracy on B clearly rises without the head whose removal raises "
    "the accuracy most on A.\n"
    "- *In most layers, one head is enough* holds if, in more than half of the layers, all heads but one can be "
    "removed at little cost on B. The head that stays is the one that alone gives the highest logit difference on A. "
    "“Low” and “high” are bounds here, too.\n"
    "- *A fifth of the heads* holds if the heads with the lowest I_h on A can be removed together at little cost on "
    "B.\n\n"
    f"The papers report no figure on this scale. So a loss counts if it is at least {100 * BOUNDS[NEEDED]:.0f} points "
    f"of accuracy, a gain if it is at least {100 * BOUNDS[HURTS]:.0f} points, and a share if it is at least a tenth "
    "above one half. We compare the model with its untrained twin only for the two claims about the loss or gain "
    "without one head. For the other claims, the twin is no comparison, because it guesses and so has nothing to lose."
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


def least_alike(found: NeededTest) -> tuple[float, tuple[str, str]]:
    """Find the lowest rank correlation between two ablations, and their names."""
    table = agreement(found)
    one, two = (int(at) for at in np.unravel_index(int(table.argmin()), table.shape))
    return float(table[one, two]), (ABLATIONS[one], ABLATIONS[two])


def last_for_nothing(found: NeededTest) -> int:
    """Count how many heads, least I_h first, can go, in measured steps, before the accuracy on B clearly falls."""
    lost = gains(found.curves[IMPORTANCE], found.plain[found.b]).T
    _, high = spread(drawn_means(lost, *found.sample.shared_in(found.b)))
    lower = np.flatnonzero(high < 0)
    return int(found.away[lower[0] - 1] if len(lower) else found.away[-1])


# The figures: they need nothing but the model, so a notebook can draw them again.


# The replacements for the output of a head that is taken away.
WAYS = {
    "zero": "0",
    "sentence": "its mean over the sentence",
    "corpus": "its mean over all sentences",
    "resample": "its output in another sentence",
    "uniform": "equal attention",
}


def effect_map(model: LoadedModel, template: str = "") -> Heatmap:
    """Draw the change of the logit difference without each head, as a mean over all pairs, or over one template's.

    Runs the experiment if its result neither ships nor is known yet. The figure's table has intervals and p-values.
    Raises ValueError for a model that the experiment cannot test.
    """
    found = result(model)
    mean = found.effect_in(template).mean
    scale = Scale("Change of the logit difference", format="+.2f", signed=True)
    where = f": {name_in(template)}" if template else ""
    drawn = heatmap(mean, layers_and_heads(mean), scale, title=f"What {model.id} loses when one head is removed{where}")
    return replace(drawn, table=partial(effect_frame, found, template))


def name_in(template: str) -> str:
    """The name of the template with this id."""
    return next(each.name for each in TEMPLATES if each.id == template)


def pruning_chart(model: LoadedModel) -> Figure:
    """Draw the accuracy on half B with more and more heads away; runs the experiment if its result is not known yet."""
    found = result(model)
    series = {
        "lowest I_h first": (found.curves[IMPORTANCE] > 0).mean(axis=1),
        "greedily": (found.curves[GREEDY] > 0).mean(axis=1),
        "at random": found.random.mean(axis=0),
        "guessing": np.full(len(found.away), 0.5),
    }
    scale = Scale("Accuracy", format=".2f")
    return lines(
        series,
        AxisPlaces("Heads taken away", found.away.tolist()),
        scale,
        title=f"{model.id} with fewer and fewer heads",
    )


def ablation_map(model: LoadedModel) -> Heatmap:
    """Draw how the orders of heads under five ablations correlate; runs the experiment if it has no result yet."""
    found = result(model)
    scale = Scale("Rank correlation", (-1.0, 1.0), "+.2f", signed=True)
    axes = Axis("Ablation", ABLATIONS), Axis("Ablation", ABLATIONS)
    return heatmap(agreement(found), axes, scale, title=f"Do five ablations of {model.id} agree?")


def agreement(found: NeededTest) -> np.ndarray:
    """Spearman's ρ between the mean effects of all heads under each ablation, in the order of :data:`ABLATIONS`."""
    means = {each.name: each.mean for each in found.effects}
    return rank_correlations([means[name].ravel() for name in ABLATIONS])


def claim_table(model: LoadedModel) -> pd.DataFrame:
    """:func:`claim_frame` of a model's result; runs the experiment if the result is not known yet."""
    return claim_frame(result(model))


def claim_frame(found: NeededTest) -> pd.DataFrame:
    """One line for each claim: published, ours in both ways, control, twin, the verdict and its reason."""
    return pd.DataFrame([{"claim": CLAIMS[row.id], "published": PUBLISHED[row.id], **_line(row)} for row in found.rows])


def template_claims(found: NeededTest) -> pd.DataFrame:
    """One line for each template and claim about single heads, with the heads whose effect reaches the margin."""
    return pd.DataFrame(
        [
            {
                "template": name_in(template),
                "claim": CLAIMS[row.id],
                **_line(row),
                "costly heads": ", ".join(map(name_of, found.costly_in(template))),
            }
            for template, rows in found.rows_in.items()
            for row in rows
        ]
    )


def _line(row: TestedClaim) -> dict[str, object]:
    zero, mean = row.zero, row.mean
    return {
        "verdict": LABELS[row.judged.verdict],
        "what is measured": what_of(row),
        "ours": zero.ours,
        "low": zero.low,
        "high": zero.high,
        "at its mean": mean.ours,
        "at its mean, low": mean.low,
        "at its mean, high": mean.high,
        "low and high": "bounds" if row.bounded else "95 % interval",
        "control": row.control,
        "untrained twin": row.twin,
        "n": row.count,
        "on A": row.on_a,
        "A − B": row.on_a - zero.ours,
        "p (Holm)": row.p,
        "p above the twin (Holm)": float("nan") if row.beside_twin is None else row.beside_twin.p,
        "why": why_of(row),
        "heads": ", ".join(map(name_of, row.heads)),
    }


def effect_frame(found: NeededTest, template: str = "") -> pd.DataFrame:
    """One line for each head, the most needed first: the change of the logit difference, and of the accuracy."""
    own = found.of(template) if template else np.ones(len(found.pairs), dtype=np.bool_)
    effect, accuracy = found.effect_in(template), gains(found.changed, found.plain)[..., own].mean(axis=-1)
    frame = pd.DataFrame(
        {
            "head": [name_of(place) for place in np.ndindex(found.shape)],
            "change": effect.mean.reshape(-1),
            "low": effect.low.reshape(-1),
            "high": effect.high.reshape(-1),
            "p (Holm)": effect.p.reshape(-1),
            "change of the accuracy": accuracy.reshape(-1),
        }
    )
    return frame.sort_values("change", ignore_index=True)


def ablation_frame(found: NeededTest) -> pd.DataFrame:
    """One line for each ablation, and the untrained twin: the number of heads whose effect differs from 0."""
    return pd.DataFrame(
        [
            {
                "ablation": each.name,
                "the head’s replacement": WAYS.get(each.name, WAYS["zero"]),
                "heads told from 0": int(each.clear.sum()),
                "of": each.mean.size,
                "fall": int((each.clear & (each.mean < 0)).sum()),
                "rise": int((each.clear & (each.mean > 0)).sum()),
                "largest": name_of(each.largest),
                "change": float(each.mean[each.largest]),
            }
            for each in found.effects
        ]
    )


def template_frame(found: NeededTest) -> pd.DataFrame:
    """One line for each template: pairs drawn and dropped, how often the model is right, and the published value."""
    return pd.DataFrame([_template(found, number) for number in range(len(TEMPLATES))])


def _template(found: NeededTest, number: int) -> dict[str, object]:
    template, drawn = TEMPLATES[number], found.templates[number]
    own, nothing = found.of(template.id), float("nan")
    right, count = int((found.plain[own] > 0).sum()), int(own.sum())
    different = len(np.unique(found.groups[own]))
    low, high = (nothing, nothing)
    if count:
        low, high = spread(drawn_means(found.plain[own] > 0, *found.sample.shared_in(own))).tolist()
    published = AGREEMENT[template.id]
    return {
        "template": template.name,
        "example": found.pairs[int(np.flatnonzero(own)[0])].text if count else "",
        "drawn": drawn.drawn,
        "dropped": drawn.dropped,
        "pairs": count,
        "different": different,
        "accuracy": right / count if count else nothing,
        "low": low,
        "high": high,
        "untrained twin": float((found.twin[own] > 0).mean()) if count else nothing,
        "logit difference": float(found.plain[own].mean()) if count else nothing,
        "BERT base": published.bert,
        "people (Goldberg)": published.people,
        "GPT-2 large": published.gpt2,
        "people (BLiMP)": published.people_blimp,
        "why not": drawn.refused,
    }


@dataclass(frozen=True)
class PublishedAgreement:
    """The accuracy of other models and of people in sentences like a template's; nan if no paper reports it.

    Attributes
    ----------
    bert, people
        BERT base and people, table 3 of Goldberg 2019 ("Assessing BERT's Syntactic Abilities").
    gpt2, people_blimp
        GPT-2 large and people, the corrected table of BLiMP (Warstadt et al. 2020) in its repository.
    """

    bert: float
    people: float
    gpt2: float
    people_blimp: float


_NOBODY = float("nan")
# The keys are the ids of the templates in lab.evidence.lexicon. BLiMP has one figure for all its subjects and verbs.
AGREEMENT = {
    "simple": PublishedAgreement(1.00, 0.96, 0.864, 0.909),
    "prepositional": PublishedAgreement(0.85, 0.85, _NOBODY, _NOBODY),
    "object_relative": PublishedAgreement(0.89, 0.85, _NOBODY, _NOBODY),
    "determiner_noun": PublishedAgreement(_NOBODY, _NOBODY, 0.958, 0.922),
    "noun_determiner": PublishedAgreement(_NOBODY, _NOBODY, _NOBODY, _NOBODY),
    "reflexive": PublishedAgreement(0.94, 0.96, 0.993, 0.975),
}


# What is said.


def meaning_of(found: NeededTest, model_id: str) -> str:
    """Say how many heads change the model's choice, which head it misses most, and how many can go together."""
    each, needed, clear = found.row(EACH), found.row(NEEDED), found.effect.clear
    if each.untestable:
        return why_of(each)
    cheap = round(each.decides.low * clear.size)
    said = (
        f"Of the {clear.size} heads of {escaped(model_id)}, **{int(clear.sum())}** clearly change the "
        f"model’s preference, but {cheap} clearly cost less than {POINTS} of accuracy each."
    )
    if min(needed.zero.ours, needed.mean.ours) > 0:
        said += (
            f" The model loses most without {head_name(needed.heads[0])}: {100 * needed.zero.ours:.0f} "
            f"points if this head writes 0, {100 * needed.mean.ours:.0f} if it writes its mean."
        )
    last = last_for_nothing(found)
    if last < clear.size:
        return (
            f"{said} The {last} least important heads can be removed together before the model becomes clearly worse."
        )
    return f"{said} Even without all its heads, the model is not clearly worse."


def what_of(row: TestedClaim) -> str:
    """Name the quantity that is measured for a claim."""
    return {
        EACH: f"share of the {row.units} heads that cost little",
        NEEDED: f"accuracy lost without {', '.join(map(name_of, row.heads))}",
        HURTS: f"accuracy gained without {', '.join(map(name_of, row.heads))}",
        ONE: "share of the layers for which one head is enough",
        FIFTH: f"accuracy lost without {row.units} heads",
        PRUNED: "not measured",
    }[row.id]


def why_of(row: TestedClaim) -> str:
    """Give the reason of the verdict on a claim, in a sentence."""
    if row.untestable == GUESSES:
        return (
            f"With all heads, the model is right in {row.right:.0%} of the pairs, which is not clearly better than "
            "guessing."
        )
    if row.untestable == RETRAINED:
        return (
            "Voita et al. continue training while they prune. The lab does not retrain any weights, so it cannot test "
            "this claim."
        )
    return why(row.judged)


def verdict_of(found: NeededTest) -> str:
    """Name each claim with its verdict; claims with the same verdict are together."""
    alike: dict[str, list[str]] = {}
    for row in found.rows:
        alike.setdefault(LABELS[row.judged.verdict], []).append(CLAIMS[row.id])
    return "\n".join(["", *(f"- **{verdict}**: {'; '.join(claims)}." for verdict, claims in alike.items())])


def in_full(found: NeededTest, model_id: str) -> str:
    """Say how often the model is right, how single heads change this, and how a fifth of the heads do together."""
    right, wrong = int((found.plain > 0).sum()), float((found.twin > 0).mean())
    clear, mean = found.effect.clear, found.effect.mean
    falls, rises = (int((clear & side).sum()) for side in (mean < 0, mean > 0))
    twin = next(each for each in found.effects if each.name == TWIN)
    said = [
        f"{escaped(model_id)} prefers the good form in {right} of {len(found.plain)} pairs "
        f"({right / len(found.plain):.0%}), and its untrained twin prefers it in {wrong:.0%}.{_below(found)}",
        f"**{int(clear.sum())} of {mean.size} heads** have an effect that clearly differs from 0. Without {falls} of "
        f"these heads, the logit difference falls; without {rises}, it rises. In the untrained twin, "
        f"{int(twin.clear.sum())} heads have such an effect.",
        _strongest(found),
        _fifth(found.row(FIFTH)),
    ]
    return " ".join(said)


def _below(found: NeededTest) -> str:
    """Name the templates in which the model is clearly worse than guessing, so that it improves by knowing less."""
    table = template_frame(found)
    below = table[table["high"] < 0.5]
    if below.empty:
        return ""
    named = "; ".join(f"{row.template}, {row.accuracy:.0%}" for row in below.itertuples())
    return (
        f" In some templates, the model is clearly worse than guessing ({named}). There, random guessing would count "
        "as a gain."
    )


def _strongest(found: NeededTest) -> str:
    mean = found.effect.mean
    layer, head = (int(at) for at in np.unravel_index(int(mean.argmin()), mean.shape))
    if mean[layer, head] >= 0:
        return "Removing a single head never lowers the mean logit difference."
    before, change = float(found.plain.mean()), gains(found.changed, found.plain).mean(axis=-1)[layer, head]
    return (
        f"The model loses most without head {name_of((layer, head))}. Without it, the mean logit difference goes from "
        f"{signed(before)} to {signed(before + mean[layer, head])}, and the accuracy changes by "
        f"{signed(100 * change, 1, plus=True)} points. {_by_template(found, (layer, head))}"
    )


def _by_template(found: NeededTest, head: Head) -> str:
    """Name the templates that change least and most without a head, because the mean may hide that they disagree."""
    gained = gains(found.changed[head], found.plain)
    names = {each.id: each.name for each in TEMPLATES if found.of(each.id).any()}
    changes = {name: float(gained[found.of(template)].mean()) for template, name in names.items()}
    low, high = min(changes, key=changes.__getitem__), max(changes, key=changes.__getitem__)
    least, most = (signed(100 * changes[name], 0, plus=True) for name in (low, high))
    return f"Among the templates, this change ranges from {least} ({low}) to {most} ({high})."


def needed_where(found: NeededTest) -> str:
    """Name the head that each template needs most, if the logit difference clearly falls without this head."""
    templates: dict[Head, list[str]] = {}
    for each in TEMPLATES:
        if not found.of(each.id).any():
            continue
        effect = found.effect_in(each.id)
        layer, head = (int(at) for at in np.unravel_index(int(effect.mean.argmin()), effect.mean.shape))
        if effect.mean[layer, head] < 0 and effect.clear[layer, head]:
            templates.setdefault((layer, head), []).append(each.name)
    if not templates:
        return "There is no template in which removing a single head clearly lowers the logit difference."
    told = "; ".join(f"{name_of(head)} in *{'*, *'.join(names)}*" for head, names in templates.items())
    differs = "**The head that is needed most depends on the template.** " if len(templates) > 1 else ""
    return f"{differs}The model loses most without these heads: {told}."


def _fifth(row: TestedClaim) -> str:
    lost = row.zero.ours
    verb = "falls by" if lost > 0 else "rises by" if lost < 0 else "changes by"
    return (
        f"Without the {len(row.heads)} heads with the lowest I_h, the accuracy on B {verb} {100 * abs(lost):.1f} "
        f"points. Without {len(row.heads)} random heads, it changes by {signed(-100 * row.control, 1, plus=True)} "
        "points."
    )


def by_template(found: NeededTest) -> str:
    """Count the heads that some template needs although the mean over all templates does not show it."""
    costly = {head for template in found.rows_in for head in found.costly_in(template)}
    pooled = -gains(found.changed, found.plain).mean(axis=-1)
    hidden = [head for head in sorted(costly) if pooled[head] < MARGIN]
    if not hidden:
        return "Averaging over all templates does not hide a head that a single template needs."
    count = "one head costs" if len(hidden) == 1 else f"{len(hidden)} heads cost"
    return (
        f"The mean over all templates hides something: {count} {POINTS} or more in some template, but less on average "
        f"({', '.join(map(name_of, hidden))})."
    )


def agreement_of(found: NeededTest) -> str:
    """Say whether the five ablations agree, and on which heads."""
    low, (one, two) = least_alike(found)
    said = f"The two ways that agree least are {WAYS[one]} and {WAYS[two]}: their rank correlation is {signed(low)}."
    largest = {each.largest for each in found.effects if each.name in WAYS}
    if len(largest) == 1:
        one = name_of(largest.pop())
        return f"{said} In all five ways, removing the same head changes the logit difference most: {one}."
    return (
        f"{said} The head whose removal changes the logit difference most is not always the same: the five ways "
        f"name {len(largest)} different heads."
    )


def bias_of(found: NeededTest) -> str:
    """Compare A and B for the two heads that were chosen on A."""
    rows = [found.row(claim) for claim in (NEEDED, HURTS)]
    told = [
        f"the {what_of(row)} is {100 * row.on_a:.1f} points on A and {100 * row.zero.ours:.1f} points on B"
        for row in rows
    ]
    flattered = sum(row.on_a > row.zero.ours for row in rows)
    said = "; ".join(told)
    if flattered:
        return (
            f"{said[0].upper()}{said[1:]}. If the number on A is larger, that is **selection bias**: a head is chosen "
            "partly because it was lucky on A."
        )
    return f"{said[0].upper()}{said[1:]}. So choosing the heads caused no visible bias."


# Single cases.


_TEMPLATE, _HEAD = "_experiment_template", "_experiment_head"
_HEADS = 6  # heads to choose from


@dataclass(frozen=True)
class ShownPair:
    """A pair and its logit difference, with all heads and without one head."""

    pair: MinimalPair
    plain: float
    without: float

    @property
    def right(self) -> bool:
        """True if the good form wins with all heads."""
        return self.plain > 0

    @property
    def turns(self) -> bool:
        """True if the winner changes without the head."""
        return (self.without > 0) != self.right


def heads_of(found: NeededTest) -> list[Head]:
    """The two heads that the claims are about, then the heads without which the logit difference changes most."""
    order = np.argsort(-np.abs(found.effect.mean), axis=None, kind="stable")
    most = [(int(at) // found.shape[1], int(at) % found.shape[1]) for at in order]
    chosen = [found.row(claim).heads[0] for claim in (NEEDED, HURTS)]
    return list(dict.fromkeys([*chosen, *most]))[:_HEADS]


def pairs_of(found: NeededTest, template: str, head: Head) -> list[ShownPair]:
    """A template's pairs of half B: first those whose winner changes, then by the change of the logit difference."""
    at = np.flatnonzero(found.of(template) & found.b)
    shown = [ShownPair(found.pairs[p], float(found.plain[p]), float(found.changed[(*head, p)])) for p in at]
    return sorted(shown, key=lambda each: (not each.turns, -abs(each.without - each.plain)))


def show_pairs(model: LoadedModel, found: NeededTest) -> Trace | None:
    """Draw the choice of a head and a template, and their pairs; returns the first pair's run."""
    heads = heads_of(found)
    names = {each.id: each.name for each in TEMPLATES if (found.of(each.id) & found.b).any()}
    left, right = st.columns(2)
    head = left.selectbox("Head to remove", heads, key=_HEAD, format_func=lambda each: _told(found, each))
    template = right.selectbox("Template", list(names), key=_TEMPLATE, format_func=names.__getitem__)
    head, template = head if head in heads else heads[0], template if template in names else next(iter(names))
    pairs = pairs_of(found, template, head)
    wins, before = sum(each.without > 0 for each in pairs), sum(each.right for each in pairs)
    st.markdown(
        f"There are {len(pairs)} such pairs in half B. The good form wins in {before} of them with all heads, and in "
        f"{wins} without head {name_of(head)}. The winner changes in {sum(each.turns for each in pairs)} pairs."
    )
    st.caption("First come the pairs whose winner changes, then the pairs whose logit difference changes most.")
    kinds = {
        f"The {form} form wins, with all heads": [each for each in pairs if each.right == (form == "good")]
        for form in ("good", "bad")
    }
    shown = two_kinds(kinds, lambda each, key: _show_pair(model, each, head, key), "Other pairs")
    return runs.run(model.id, read(model, shown[0].pair)[0], "", Interventions()) if shown else None


def _told(found: NeededTest, head: Head) -> str:
    """Name a head with its effect, and the claim that it is chosen for, if any."""
    said = {found.row(NEEDED).heads[0]: ", most needed on A", found.row(HURTS).heads[0]: ", hurts most on A"}
    return f"{name_of(head)}: {signed(found.effect.mean[head], plus=True)}{said.get(head, '')}"


def _show_pair(model: LoadedModel, each: ShownPair, head: Head, key: str) -> None:
    with st.container(border=True):
        st.markdown(marked(each.pair))
        now = "good" if each.without > 0 else "bad"
        turns = f", so the **{now}** form now wins" if each.turns else ""
        before, after = signed(each.plain, plus=True), signed(each.without, plus=True)
        st.caption(f"The logit difference is {before} with all heads and {after} without head {name_of(head)}{turns}.")
        text, place, deciding = read(model, each.pair)
        at: dict[Parameter[Any], Any] = {LAYER: head[0] + 1, HEAD: head[1] + 1}
        asked: dict[Parameter[Any], Any] = {
            MASKED: "",
            PLACE: place + 1,
        }
        with st.container(horizontal=True):
            look_there("masked-language-model", text, at | asked, f"_experiment.words.{key}", asking_step(model))
            there = at | {TOKEN: place + 1, KEY_TOKEN: deciding + 1}
            look_there("self-attention", text, there, f"_experiment.lesson.{key}", "map")


def marked(pair: MinimalPair) -> str:
    """The sentence as Markdown, with the good form green and the bad form orange."""
    before, after = (escaped(part.strip()) for part in pair.text.split(BLANK))
    good, bad = escaped(pair.good), escaped(pair.bad)
    return f"{before} :green-background[{good}] :orange-background[{bad}] {after}"


def read(model: LoadedModel, pair: MinimalPair) -> tuple[str, int, int]:
    """The text that the model reads, as a learner would type it; the asked place and the deciding token, from 0."""
    asked = ask(model, pair)
    assert asked is not None  # a measured pair can always be asked again
    text = pair.text.split(BLANK)[0].strip()
    if not model.config.causal:
        text = pair.text.replace(BLANK, asked.encoding.tokens[asked.place])
    return text, asked.place, asked.deciding


# The page.


_MEASURED = (
    Column("ours", 62, SHARE, "at 0", "The effect when the heads write 0."),
    Column("low", 62, SHARE),
    Column("high", 62, SHARE),
    Column("at its mean", 62, SHARE, "at mean", "The effect when the heads write their mean over the sentence."),
    Column("at its mean, low", 62, SHARE, "low"),
    Column("at its mean, high", 62, SHARE, "high"),
)
_TWIN = Column("untrained twin", 62, SHARE, "twin", "The untrained twin: the same model with random weights.")
_CLAIMS = (
    Column("claim", 150),
    Column("verdict", 96),
    *_MEASURED,
    _TWIN,
    Column("control", 62, SHARE),
    Column("n", 40),
    Column("heads", 106),
)
_BY_TEMPLATE = (
    Column("template", 120),
    Column("claim", 130),
    Column("verdict", 96),
    *_MEASURED,
    _TWIN,
    Column("n", 40),
    Column("costly heads", 76),
)
_TEMPLATES = (
    Column("template", 150),
    Column("example", 150),
    Column("drawn", 58),
    Column("dropped", 70),
    Column("pairs", 54),
    Column("different", 68),
    *(Column(name, 70, SHARE) for name in ("accuracy", "low", "high")),
    Column("untrained twin", 70, SHARE, "twin", "The untrained twin: the same model with random weights."),
    Column("logit difference", 70, DECIMAL, "logit diff."),
)
_ABLATIONS = (
    Column("ablation", 130),
    Column("the head’s replacement", 270),
    Column("heads told from 0", 140),
    *(Column(name, 60) for name in ("of", "fall", "rise")),
    Column("largest", 80),
    Column("change", 80, DECIMAL),
)
_MAP, _TABLE = "_experiment_map", ":material/table_rows:"
_WHY_NOT = Column("why not", 200)
_ELSEWHERE = (
    Column("template", 300),
    Column("accuracy", 90, SHARE, "ours"),
    *(Column(name, 120, SHARE) for name in ("BERT base", "people (Goldberg)", "GPT-2 large", "people (BLiMP)")),
)


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
        "loss of the good form changes when the head’s output is multiplied by a factor. I_h is divided by the norm "
        "of these numbers in the layer."
    )


def _time(model: LoadedModel) -> str:
    count = minutes(model.config)
    if count < 2:
        return "two minutes or less"
    return f"{count:.0f} minutes" if count < 90 else f"{count / 60:.0f} hours"


def figure(model: LoadedModel, found: NeededTest) -> partial[Heatmap]:
    """Return the call that draws the map of the chosen template."""
    return partial(effect_map, model, _chosen_template(found))


def caption(_: LoadedModel, found: NeededTest) -> str:
    """Say over how many pairs the map is a mean, and what its numbers are."""
    template = _chosen_template(found)
    count = int(found.of(template).sum()) if template else len(found.pairs)
    return (
        f"Each cell is a mean over {count} pairs. The **logit difference** says how much the model prefers the right "
        "form. Below 0, this preference is weaker without the head."
    )


def _chosen_template(found: NeededTest) -> str:
    template = st.session_state.get(_MAP, "")
    return template if template in _templates(found) else ""  # another model may not have this template


def show_in_full(model: LoadedModel, found: NeededTest) -> None:
    """Draw all that the result says, and the selection bias."""
    st.markdown(in_full(found, model.id))
    st.markdown(bias_of(found))


def show_numbers(model: LoadedModel, found: NeededTest) -> None:
    """Draw the claims in numbers, and what else the result holds."""
    with st.expander("All claims in numbers, and why", icon=":material/table_rows:"):
        show_table(claim_frame(found).round(4), _CLAIMS, long_texts=True)
        st.caption(
            f"**At little cost** means at a cost of less than {POINTS} of accuracy. **Low** and **high** are the ends "
            "of the 95 % interval, or bounds of a share of heads or layers. The **control** is the mean of all other "
            "heads. If one head is kept, it is the mean of all heads of the layer; for a fifth of the heads, it is "
            "the same number of random heads. **n** is the number of different sentences (only those of B, if heads "
            "were chosen). **Heads** lists the heads chosen on A."
        )
        offer_numbers(partial(claim_table, model), "needed-claims", partial(claim_table, model))
        for row in found.rows:
            st.markdown(
                f"**{LABELS[row.judged.verdict].capitalize()}**: {CLAIMS[row.id]}. {why_of(row)} The paper reports: "
                f"{PUBLISHED[row.id]}."
            )
        st.caption("BLEU is a score for translations, from 0 to 100.")
    _show_folded(model, found)


def _templates(found: NeededTest) -> dict[str, str]:
    """The names of the templates that the model was tested on, by id; "" means all of them."""
    return {"": "all templates"} | {each.id: each.name for each in TEMPLATES if found.of(each.id).any()}


def _show_folded(model: LoadedModel, found: NeededTest) -> None:
    """Draw, folded, each template, heads taken away together, other ablations, and how often the model is right."""
    with st.expander("Template by template", icon=_TABLE, on_change="rerun", key="_needed_templates") as templates:
        if templates.open:
            _show_by_template(found)
    with st.expander("Taken away together", icon=_TABLE, on_change="rerun", key="_needed_together") as together:
        if together.open:
            _show_together(model)
    with st.expander("Taken away in five ways", icon=_TABLE, on_change="rerun", key="_needed_ways") as ways:
        if ways.open:
            _show_ways(model, found)
    with st.expander(
        "How well the model does with all heads", icon=_TABLE, on_change="rerun", key="_needed_can"
    ) as can:
        if can.open:
            _show_accuracy(found)


def _show_by_template(found: NeededTest) -> None:
    names = _templates(found)
    st.selectbox("The map above shows", list(names), key=_MAP, format_func=names.__getitem__)
    st.markdown(needed_where(found))
    st.markdown(by_template(found))
    show_table(template_claims(found).round(4), _BY_TEMPLATE, long_texts=True)


def _show_together(model: LoadedModel) -> None:
    draw(partial(pruning_chart, model), "needed-pruning")
    st.caption(
        "The accuracy is measured on half B. **I_h**, the gradient importance, says how much the loss of the good "
        "form changes when the head’s output is multiplied by a factor. It is measured on A and divided by the norm "
        "of these numbers in the layer. **Greedily** means that each step removes the heads whose removal costs "
        f"least on {SAMPLE} pairs of A, and measures the other heads again. **At random** is the mean over "
        f"{RANDOM_ORDERS} random orders."
    )


def _show_ways(model: LoadedModel, found: NeededTest) -> None:
    draw(partial(ablation_map, model), "needed-ablations")
    st.markdown(agreement_of(found))
    show_table(ablation_frame(found), _ABLATIONS)
    st.caption(
        "All numbers are from half B. **Heads told from 0** are heads with p < 0.05 after Holm’s correction. Without "
        "such a head, the logit difference **falls** or **rises**. **Largest** names the head whose removal changes "
        "the logit difference most."
    )


def _show_accuracy(found: NeededTest) -> None:
    frame = template_frame(found)
    show_table(frame.round(4), [*_TEMPLATES, *[_WHY_NOT] * bool(frame["why not"].any())], long_texts=True)
    show_table(frame.round(4), _ELSEWHERE)
    st.caption(
        "**Dropped** counts pairs with a word that is not one piece of the vocabulary. **Low** and **high** are the "
        "ends of the 95 % interval, over the nouns and verbs that pairs share. The last table is for context. It "
        "shows other models, and people, on other sentences of this kind. The figures for BERT base are from Goldberg "
        "2019, table 3; the "
        "figures for GPT-2 large are from BLiMP (corrected table), which averages over all its sentences with a "
        "subject and a verb."
    )


def reproduced(found: NeededTest) -> Lines:
    """A line for each claim, in percent, by both ways to take heads away."""
    lines = [
        (CLAIMS[row.id], PUBLISHED[row.id], what_of(row), *_measured(row), f"{row.count:,}", LABELS[row.judged.verdict])
        for row in found.rows
    ]
    return markdown(("claim", "published", "what", "heads at 0", "at their mean", "twin", "n", "verdict"), lines)


def _measured(row: TestedClaim) -> tuple[str, ...]:
    if np.isnan(row.zero.ours):
        return (NOTHING,) * 3
    word = "bounds " if row.bounded else ""
    ways = (f"{percent(way.ours)} ({word}{percent(way.low)} to {percent(way.high)})" for way in (row.zero, row.mean))
    return (*ways, NOTHING if np.isnan(row.twin) else percent(row.twin))


def reproduced_by_template(found: NeededTest) -> Lines:
    """A line for each template, with the claims about single heads."""
    lines = []
    for template, (each, one) in found.rows_in.items():
        costly = " ".join(name_of(head) for head in found.costly_in(template)) or NOTHING
        free = (*_measured(each)[:2], LABELS[each.judged.verdict])
        most = (what_of(one), *_measured(one), f"{one.count:,}", LABELS[one.judged.verdict])
        lines.append((template, costly, *free, *most))
    free = ("cost little, heads at 0", "at their mean", "verdict")
    return markdown(
        ("template", "heads that cost 5 points", *free, "most needed", "at 0", "at its mean", "twin", "n", "verdict"),
        lines,
    )


EXPERIMENT = Experiment(
    measurement=MEASUREMENT,
    bet=lambda model: bet(model.config),
    decided=decided,
    takes=lambda model: f"Measuring a model of this size takes about {_time(model)}.",
    help=(
        "The model reads every pair without each head, in five ways. Then it reads the pairs with more and "
        "more heads removed."
    ),
    show_first=show_first,
    figure=figure,
    name="needed-heads",
    caption=caption,
    meaning=meaning_of,
    verdict=verdict_of,
    head=lambda found: found.row(NEEDED).heads[0],
    show_in_full=show_in_full,
    show_numbers=show_numbers,
    rule=RULES,
    data="pairs",
    code=(replicate, without_each_head, importance),
    cases="The pairs behind a number",
    show_cases=show_pairs,
    method=method,
    tables={"": reproduced, "Template by template": reproduced_by_template},
)
