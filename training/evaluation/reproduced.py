"""What was reproduced, as tables in Markdown: every verdict of every embedded model, with n and the untrained twin.

python -m training.evaluation.reproduced > docs/reproduced.md
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from lab.course.pages import disclosed
from lab.evidence.verdicts import RULE
from lab.experiments.copying import measure
from lab.experiments.explanation import agreement
from lab.experiments.explanation import measure as explanation_replication
from lab.experiments.grammar import measure as grammar_replication
from lab.experiments.grammar.measure import RelationRow
from lab.experiments.needed_heads import measure as needed_heads_replication
from lab.experiments.needed_heads.claims import CLAIMS, PUBLISHED, name_of
from lab.experiments.needed_heads.claims import TestedClaim as NeededRow
from lab.experiments.patching import measure as patching_replication
from lab.models.catalogue import CATALOGUE, ships
from lab.models.loading import LoadedModel, load_model
from training.command_line import documented

NOTHING = "–"
Found = TypeVar("Found")
Lines = list[str]


def grammar_table(model: LoadedModel) -> Lines:
    """Clark et al. 2019: a line a relation, on half B of EWT and on GUM."""
    found = _known(grammar_replication.known(model), model)
    lines = [
        (
            row.relation,
            _percent(row.published.accuracy, row.published.offset),
            row.name,
            *_of_relation(row),
            *_of_relation(there),
        )
        for row, there in zip(found.rows, found.elsewhere, strict=True)
    ]
    here = ("EWT, half B (offset)", "by kinds (gold)", "twin", "n", "verdict")
    return _table(("relation", "published (offset)", "head", *here, "GUM (offset)", *here[1:]), lines)


def _of_relation(row: RelationRow) -> tuple[str, ...]:
    shares = _percent(row.accuracy, row.offset_accuracy)
    return (
        shares,
        _percent(row.rule_accuracy, row.gold_accuracy),
        f"{100 * row.twin:.1f}",
        f"{row.count:,}",
        row.judged.verdict.value,
    )


def needed_table(model: LoadedModel) -> Lines:
    """Michel et al. 2019: a line a claim, in percent, by both ways to take heads away."""
    found = _known(needed_heads_replication.known(model), model)
    lines = [
        (CLAIMS[row.id], PUBLISHED[row.id], row.what, *_of_claim(row), f"{row.count:,}", row.judged.verdict.value)
        for row in found.rows
    ]
    return _table(("claim", "published", "what", "heads at 0", "at their mean", "twin", "n", "verdict"), lines)


def _of_claim(row: NeededRow) -> tuple[str, ...]:
    if row.zero.ours != row.zero.ours:  # nan: not measured
        return (NOTHING,) * 3
    word = "bounds " if row.bounded else ""
    ways = (f"{_p(way.ours)} ({word}{_p(way.low)} to {_p(way.high)})" for way in (row.zero, row.mean))
    return (*ways, _p(row.twin) if row.twin == row.twin else NOTHING)


def _p(share: float) -> str:
    return f"{100 * share:.1f}".replace("-", "−")


def templates_table(model: LoadedModel) -> Lines:
    """The claims about single heads of Michel et al. 2019, template by template."""
    found = _known(needed_heads_replication.known(model), model)
    lines = []
    for template, rows in found.rows_in.items():
        each, one = rows
        costly = " ".join(name_of(head) for head in found.costly_in(template)) or NOTHING
        lines.append(
            (
                template,
                costly,
                *_of_claim(each)[:2],
                each.judged.verdict.value,
                one.what,
                *_of_claim(one),
                f"{one.count:,}",
                one.judged.verdict.value,
            )
        )
    free = ("for free, heads at 0", "at their mean", "verdict")
    return _table(
        ("template", "heads that cost 5 points", *free, "most needed", "at 0", "at its mean", "twin", "n", "verdict"),
        lines,
    )


def explanation_table(model: LoadedModel) -> Lines:
    """Jain & Wallace 2019 and the two papers after it: a line a claim."""
    lines = []
    for row in _known(explanation_replication.known(model), model).rows:
        claim = agreement.CLAIMS[row.claim]
        published = NOTHING if claim.published is None else f"{claim.published:.2f}"
        lines.append(
            (
                f"{claim.first} {row.first:.2f}",
                f"{claim.second} {row.second:.2f}",
                _with_ends(row.effect, row.low, row.high),
                published,
                _two(row.twin),
                f"{row.count}",
                row.judged.verdict.value,
            )
        )
    return _table(("what should agree more", "than", "difference", "published", "twin", "n", "verdict"), lines)


def patching_table(model: LoadedModel) -> Lines:
    """Meng et al. 2022 and Nanda 2023: a line a claim and direction."""
    lines = [
        (
            f"{row.claim.says} ({row.claim.direction})" if row.claim.direction else row.claim.says,
            f"{row.claim.first} {_two(row.first)}",
            f"{row.claim.second} {_two(row.second)}",
            _with_ends(row.effect, row.low, row.high),
            NOTHING if row.twin is None else f"{_two(row.twin)} (n {row.twin_count})",
            f"{row.count}",
            row.judged.verdict.value,
        )
        for row in _known(patching_replication.known(model), model).rows
    ]
    return _table(("claim", "first", "second", "difference", "twin", "n", "verdict"), lines)


def copying_table(model: LoadedModel) -> Lines:
    """Olsson et al. 2022: a line an absence."""
    lines = [
        (
            f"{measure.AWAY[row.kind]}, {row.name}",
            *(_with_ends(each.rise, each.low, each.high) for each in (row.zero, row.mean)),
            _with_ends(row.effect, row.low, row.high),
            NOTHING if row.twin is None else _two(row.twin),
            f"{len(row.zero.run.second)}",
            row.judged.verdict.value,
        )
        for row in _known(measure.known(model), model).rows
    ]
    return _table(
        ("away", "loss rises by, at 0", "at their mean", "beyond random heads", "twin", "n", "verdict"), lines
    )


TABLES: tuple[tuple[str, Callable[[LoadedModel], Lines]], ...] = (
    ("Do heads know grammar?", grammar_table),
    ("Which heads does a model need?", needed_table),
    ("Which heads does a model need? Template by template", templates_table),
    ("Is attention an explanation?", explanation_table),
    ("Where is grammatical number kept?", patching_table),
    ("How does copying work?", copying_table),
)


def _known(found: Found | None, model: LoadedModel) -> Found:
    if found is None:
        raise SystemExit(f"A result of {model.id} is stale: python -m training.evaluation.experiments")
    return found


def _percent(share: float, offset: float) -> str:
    return f"{100 * share:.1f} ({100 * offset:.1f})"


def _two(number: float) -> str:
    return f"{number:.2f}".replace("-", "−")


def _with_ends(number: float, low: float, high: float) -> str:
    return f"{_two(number)} ({_two(low)} to {_two(high)})"


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> Lines:
    rows = [f"| {' | '.join(line)} |" for line in lines]
    return [f"| {' | '.join(head)} |", "| --- " * len(head) + "|", *rows]


def page() -> str:
    """All tables of all models, and the rule."""
    parts = [
        "# What was reproduced",
        "Written by `python -m training.evaluation.reproduced` from the results that ship; a test compares. "
        "[results.md](results.md) and the pages of the experiments say how each figure is measured. "
        "**twin** is the untrained twin, the same model with random weights. Intervals are 95 %.",
        f"## The rule of the verdicts\n\n{RULE}",
    ]
    models = [load_model(entry.id) for entry in CATALOGUE if ships(entry)]
    for title, table in TABLES:
        parts.append(f"## {title}")
        for model in models:
            if table is copying_table and measure.untestable(model):
                continue
            parts += [f"### {model.id}", *_told(table, model), "\n".join(table(model))]
    return "\n\n".join(parts) + "\n"


def _told(table: Callable[[LoadedModel], Lines], model: LoadedModel) -> Lines:
    """What a reader must know of the model before this table."""
    of: dict[Callable[[LoadedModel], Lines], str] = {
        grammar_table: grammar_replication.MEASUREMENT.id,
        copying_table: measure.MEASUREMENT.id,
    }
    return [told] if table in of and (told := disclosed(of[table], model.id)) else []


if __name__ == "__main__":
    documented(__doc__).parse_args()
    print(page(), end="")
