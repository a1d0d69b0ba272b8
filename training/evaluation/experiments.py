"""Write what the experiments find on the embedded models, for the lab to ship.

python -m training.evaluation.experiments grammar lab-bert
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import torch

from lab.experiments import copied, patched, patching_tables, relations, shipped
from lab.experiments.importance import agreement, explained
from lab.experiments.needed import result as needed_result
from lab.experiments.needed import run as needed
from lab.experiments.needed.claims import CLAIMS, PUBLISHED, Row
from lab.experiments.published import CLARK
from lab.experiments.treebank import ewt_hash
from lab.models.catalogue import CATALOGUE, ships
from lab.models.loading import LoadedModel, load_model

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Measured:
    """What an experiment finds, as tables; the hash of what it reads; why a model cannot be tested, "" where it can.

    ``seconds`` is the most that it may take live on an embedded model; None where there is no bound on the whole.
    """

    tables: Callable[[LoadedModel], dict[str, pa.Table]]
    data_hash: Callable[[], str]
    untestable: Callable[[LoadedModel], str] = lambda _: ""
    seconds: float | None = None


MEASURED = {
    relations.EXPERIMENT: Measured(lambda model: relations.as_tables(relations.replicate(model)), ewt_hash, seconds=60),
    needed.EXPERIMENT: Measured(
        lambda model: needed_result.as_tables(needed.replicate(model)), needed.data_hash, needed.untestable
    ),
    explained.EXPERIMENT: Measured(
        lambda model: explained.as_tables(explained.replicate(model)),
        explained.data_hash,
        explained.untestable,
        seconds=120,
    ),
    patched.EXPERIMENT: Measured(
        lambda model: patching_tables.as_tables(patched.replicate(model)), patched.data_hash, patched.untestable
    ),
    copied.EXPERIMENT: Measured(
        lambda model: copied.as_tables(copied.replicate(model)), copied.data_hash, copied.untestable, seconds=20
    ),
}


def write(experiment: str, model_id: str) -> None:
    """Run an experiment on an embedded model and keep the result."""
    measured, model = MEASURED[experiment], load_model(model_id)
    if reason := measured.untestable(model):
        print(f"{experiment} {model_id}: not measured. {reason}", flush=True)
        return
    command = f"python -m training.evaluation.experiments {experiment} {model_id}"
    made = shipped.Provenance(shipped.model_hash(model), measured.data_hash(), shipped.commit(), command)
    where = shipped.folder(experiment, model_id)
    shipped.write(where, measured.tables(model), made)
    print(f"{experiment} {model_id}: {where.relative_to(ROOT)}", flush=True)


def grammar_table(model_ids: Sequence[str]) -> list[str]:
    """The README's table of what was reproduced of Clark et al. 2019: a line a relation, a column a model."""
    found = [relations.known(load_model(model_id)) for model_id in model_ids]
    rows = [{row.relation: row for row in each.rows} for each in found if each is not None]
    lines = [
        f"| relation | published (offset) | {' | '.join(f'`{each}` on half B (offset)' for each in model_ids)} |",
        "| --- |" + " --- |" * (1 + len(model_ids)),
    ]
    for published in CLARK:
        cells = [f"{published.relation} | {100 * published.accuracy:.1f} ({100 * published.offset:.1f})"]
        for each in rows:
            row = each[published.relation]
            cells.append(f"{100 * row.accuracy:.1f} ({100 * row.offset_accuracy:.1f}): {row.judged.verdict.value}")
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def needed_table(model_ids: Sequence[str]) -> list[str]:
    """The same of Michel et al. 2019: a line a claim, a column a model."""
    found = [needed.known(load_model(model_id)) for model_id in model_ids]
    lines = [
        f"| claim | published | {' | '.join(f'`{each}`' for each in model_ids)} |",
        "| --- |" + " --- |" * (1 + len(model_ids)),
    ]
    for claim, words in CLAIMS.items():
        cells = [_needed_cell(each.row(claim)) for each in found if each is not None]
        lines.append(f"| {words} | {PUBLISHED[claim]} | {' | '.join(cells)} |")
    return lines


def _needed_cell(row: Row) -> str:
    if row.untestable:
        return row.judged.verdict.value
    ours, low, high = (f"{100 * each:.1f}".replace("-", "−") for each in (row.ours, row.low, row.high))
    return f"{row.what}: {ours} ({low} to {high}): {row.judged.verdict.value}"


def copying_table(model_ids: Sequence[str]) -> list[str]:
    """The same of Olsson et al. 2022: a line for each absence, of each model."""
    lines = ["| model | away | loss of the second copy rises by | random heads | verdict |", "| --- " * 5 + "|"]
    for model_id in model_ids:
        found = copied.known(load_model(model_id))
        for row in found.rows if found else ():
            rise = f"{row.rise:.2f} ({row.low:.2f} to {row.high:.2f})"
            away = f"{copied.AWAY[row.run.kind]}, {row.run.name}"
            lines.append(
                f"| `{model_id}` | {away} | {rise} | {row.rise - row.beyond:.2f} | {row.judged.verdict.value} |"
            )
    return lines


def explanation_table(model_ids: Sequence[str]) -> list[str]:
    """The same of Jain & Wallace 2019 and the two papers after it: a line for each claim, of each model."""
    lines = ["| model | what should agree more | than | difference | published | twin | verdict |", "| --- " * 7 + "|"]
    for model_id in model_ids:
        found = explained.known(load_model(model_id))
        for row in found.rows if found else ():
            claim = agreement.CLAIMS[row.claim]
            both = f"{claim.first} {row.first:.2f} | {claim.second} {row.second:.2f}"
            ours = f"{row.effect:.2f} ({row.low:.2f} to {row.high:.2f})"
            published = "–" if claim.published is None else f"{claim.published:.2f}"
            verdict = row.judged.verdict.value
            lines.append(f"| `{model_id}` | {both} | {ours} | {published} | {row.twin:.2f} | {verdict} |")
    return lines


def patching_table(model_ids: Sequence[str]) -> list[str]:
    """The same of Meng et al. 2022 and Nanda 2023: a line a claim, a column a model."""
    found = [patched.known(load_model(model_id)) for model_id in model_ids]
    columns = " | ".join(f"`{each}`" for each in model_ids)
    lines = [f"| claim | compared | {columns} |", "| --- " * (2 + len(model_ids)) + "|"]
    for rows in zip(*(each.rows for each in found if each is not None), strict=True):
        claim = rows[0].claim
        says = f"{claim.says} ({claim.direction})" if claim.direction else claim.says
        cells = [
            f"{row.effect:.2f} ({row.low:.2f} to {row.high:.2f}): {row.judged.verdict.value}".replace("-", "−")
            for row in rows
        ]
        lines.append(f"| {says} | {claim.first} − {claim.second} | {' | '.join(cells)} |")
    return lines


def main(chosen: list[str]) -> None:
    torch.set_num_threads(1)
    experiments, models = (chosen[:1] or list(MEASURED)), (chosen[1:] or [e.id for e in CATALOGUE if ships(e)])
    for experiment in experiments:
        for model_id in models:
            write(experiment, model_id)


if __name__ == "__main__":
    main(sys.argv[1:])
