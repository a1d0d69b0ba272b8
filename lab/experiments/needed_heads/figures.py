"""The figures of the experiment on needed heads.

The figures need nothing but the model, so a notebook can redraw them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from lab.analysis.ranks import rank_correlations
from lab.charts.base.axes import Axis, AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.marks.lines import lines
from lab.evidence.intervals import drawn_means, spread
from lab.evidence.lexicon import TEMPLATES
from lab.evidence.published import AGREEMENT
from lab.experiments.needed_heads.ablations import ABLATIONS
from lab.experiments.needed_heads.claims import CLAIMS, GREEDY, IMPORTANCE, PUBLISHED, TestedClaim, name_of
from lab.experiments.needed_heads.measure import NeededTest, result
from lab.experiments.needed_heads.sample import gains
from lab.figures.axes import layers_and_heads
from lab.models.loading import LoadedModel

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
        "verdict": row.judged.verdict.value,
        "what is measured": row.what,
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
        "why": row.judged.why,
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
