"""The figures of the experiment about grammar.

The figures need nothing but the model, so a notebook can draw them again.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pandas as pd

from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.ranges import ranges
from lab.experiments.grammar.meanings import SHORT, WORDS, told
from lab.experiments.grammar.measure import GrammarTest, result
from lab.models.loading import LoadedModel

DIRECTIONS = ("dependent → head", "head → dependent")


def relation_chart(model: LoadedModel) -> Figure:
    """Draw each relation's best head on half B and on GUM, beside the two rules, the twin and the paper.

    Runs the experiment if its result neither ships nor is known yet. The figure's table has every number of the result.
    Raises ValueError if the model can read no sentence.
    """
    found = result(model)
    low, high = ([getattr(row, name) for row in found.rows] for name in ("share_low", "share_high"))
    points = {
        "best head, on B": [row.accuracy for row in found.rows],
        "the same head, on GUM": [row.accuracy for row in found.elsewhere],
        "rule by kinds of words": [row.rule_accuracy for row in found.rows],
        "best fixed distance": [row.offset_accuracy for row in found.rows],
        "untrained twin": [row.twin for row in found.rows],
        "Clark et al.": [row.published.accuracy for row in found.rows],
    }
    drawn = ranges(
        [SHORT[row.relation] for row in found.rows],
        points,
        (low, high),
        Scale("Share named right", (0.0, 1.0), ".2f"),
        title=f"Which relations a head of {model.id} finds",
    )
    return replace(drawn, table=partial(as_frame, found))


def as_frame(found: GrammarTest, gum: bool = False) -> pd.DataFrame:
    """One line for each relation: published, ours, baselines, number of cases, intervals, the verdict and its reason.

    The numbers are for half B of EWT, or, with ``gum``, for GUM. The verdict on the other treebank has its own column.
    """
    rows, others = (found.elsewhere, found.rows) if gum else (found.rows, found.elsewhere)
    return pd.DataFrame([
        {
            "relation": row.relation, "two words": WORDS[row.relation].replace("*", ""),
            "in the paper": row.published.name, "published": row.published.accuracy,
            "published distance": row.published.offset, "published lift": row.published.lift,
            "ours": row.accuracy, "low": row.share_low, "high": row.share_high,
            "best fixed distance": row.offset_accuracy, "rule by kinds": row.rule_accuracy,
            "rule by gold kinds": row.gold_accuracy, "untrained twin": row.twin, "n": row.count,
            "documents": row.documents, "lift": row.lift, "lift low": row.low, "lift high": row.high,
            "twin’s lift": row.twin_lift, "p (Holm)": row.p, "p above the twin (Holm)": row.p_twin,
            "verdict": row.judged.verdict.value, "on the other treebank": other.judged.verdict.value,
            "head": row.name, "direction": DIRECTIONS[row.end], "on A": row.on_a, "A − B": row.selection_bias,
            "n of A": row.count_a, "distance": row.offset, "rule": told(row.rule),
            "above the rule, low": row.beyond_low, "above the rule, high": row.beyond_high,
            "right where the rule is wrong": row.where_rule_fails, "reach": row.reach, "why": row.judged.why,
        }
        for row, other in zip(rows, others, strict=True)
    ])  # fmt: skip
