"""Write what the experiments find on the embedded models, for the lab to ship.

python -m training.evaluation.experiments grammar lab-bert
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch

from lab.evidence import shipped
from lab.evidence.code_hash import code_hash
from lab.evidence.copying import replication
from lab.evidence.explanation import replication as explanation_replication
from lab.evidence.grammar import replication as grammar_replication
from lab.evidence.needed_heads import replication as needed_heads_replication
from lab.evidence.needed_heads import result
from lab.evidence.patching import replication as patching_replication
from lab.evidence.patching import tables as patching_tables
from lab.models.loading import LoadedModel, load_model
from training.command_line import SHIPPED, documented

ROOT = Path(__file__).parents[2]
# The largest difference between a result and the one that shipped that is rounding: see difference_of.
SAME = 1e-6


@dataclass(frozen=True)
class Measured:
    """An experiment as it is measured here.

    Attributes
    ----------
    module
        The module that runs it, by its dotted name; its code decides the result.
    tables
        What it finds of a model, as tables.
    data_hash
        The hash of what it reads.
    untestable
        Why a model cannot be tested, "" where it can.
    seconds
        The most that it may take live on an embedded model; None where there is no bound on the whole.
    """

    module: str
    tables: Callable[[LoadedModel], dict[str, pa.Table]]
    data_hash: Callable[[], str]
    untestable: Callable[[LoadedModel], str] = lambda _: ""
    seconds: float | None = None

    @property
    def code_hash(self) -> str:
        return code_hash(self.module)


MEASURED = {
    grammar_replication.EXPERIMENT: Measured(
        grammar_replication.__name__,
        lambda model: grammar_replication.as_tables(grammar_replication.replicate(model)),
        grammar_replication.data_hash,
        seconds=150,
    ),
    needed_heads_replication.EXPERIMENT: Measured(
        needed_heads_replication.__name__,
        lambda model: result.as_tables(needed_heads_replication.replicate(model)),
        needed_heads_replication.data_hash,
        needed_heads_replication.untestable,
    ),
    explanation_replication.EXPERIMENT: Measured(
        explanation_replication.__name__,
        lambda model: explanation_replication.as_tables(explanation_replication.replicate(model)),
        explanation_replication.data_hash,
        explanation_replication.untestable,
        seconds=120,
    ),
    patching_replication.EXPERIMENT: Measured(
        patching_replication.__name__,
        lambda model: patching_tables.as_tables(patching_replication.replicate(model)),
        patching_replication.data_hash,
        patching_replication.untestable,
    ),
    replication.EXPERIMENT: Measured(
        replication.__name__,
        lambda model: replication.as_tables(replication.replicate(model)),
        replication.data_hash,
        replication.untestable,
        seconds=120,
    ),
}


def write(experiment: str, model_id: str) -> None:
    """Run an experiment on an embedded model, keep the result, and say how far it is from the one before."""
    measured, model, began = MEASURED[experiment], load_model(model_id), perf_counter()
    if reason := measured.untestable(model):
        print(f"{experiment} {model_id}: not measured. {reason}", flush=True)
        return
    command = f"python -m training.evaluation.experiments {experiment} {model_id}"
    made = shipped.Provenance(
        shipped.model_hash(model), measured.data_hash(), measured.code_hash, shipped.commit(), command
    )
    where = shipped.folder(experiment, model_id)
    before = {path.stem: pq.read_table(path) for path in where.glob("*.parquet")}
    found = measured.tables(model)
    differs = difference_of(before, found) if before else None
    if differs is not None and differs <= SAME:
        shipped.sign(where, made)  # the numbers of before stay: git would store the files once more
    else:
        shipped.write(where, found, made)
    said = f"{experiment} {model_id}: {where.relative_to(ROOT)}, {perf_counter() - began:.0f} s"
    print(f"{said}, {_beside(differs) if before else 'the first of its kind'}", flush=True)


def _beside(differs: float | None) -> str:
    """How a result compares with the one that shipped, in words."""
    if differs is None:
        return "DIFFERS from what shipped in more than numbers"
    return f"as shipped (differs by {differs:.1g} at most)" if differs <= SAME else f"DIFFERS by up to {differs:.3g}"


def difference_of(before: Mapping[str, pa.Table], now: Mapping[str, pa.Table]) -> float | None:
    """The largest difference of two numbers of two results; None where anything but their numbers differs."""
    if before.keys() != now.keys():
        return None
    most = 0.0
    for name, table in now.items():
        if table.num_rows != before[name].num_rows or set(table.column_names) != set(before[name].column_names):
            return None
        for column in table.column_names:
            own = _apart(before[name][column].to_pylist(), table[column].to_pylist())
            if own is None:
                return None
            most = max(most, own)
    return most


def _apart(one: Any, other: Any) -> float | None:
    """The largest difference of the numbers in two columns, however deep in lists they are; None for other values."""
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return None
        each = [_apart(*both) for both in zip(one, other, strict=True)]
        return None if None in each else max((value for value in each if value is not None), default=0.0)
    if isinstance(one, float) and isinstance(other, float):
        # A result ships in single precision in places; nan is nan.
        near = np.isnan(one) and np.isnan(other)
        return 0.0 if near else float(abs(np.float32(one) - np.float32(other))) / max(1.0, abs(one))
    return 0.0 if one == other else None


def write_all(experiments: Iterable[str], models: Iterable[str]) -> None:
    """Write what each experiment finds on each model."""
    for experiment, model_id in product(experiments, models):
        write(experiment, model_id)


def main() -> None:
    parser = documented(__doc__)
    parser.add_argument("experiment", nargs="?", choices=list(MEASURED), help="all if none is named")
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"{', '.join(SHIPPED)}; all if none is named")
    asked = parser.parse_args()
    if unknown := [each for each in asked.models if each not in SHIPPED]:
        parser.error(f"There is no model {unknown[0]} here; name some of {', '.join(SHIPPED)}.")
    torch.set_num_threads(1)
    write_all([asked.experiment] if asked.experiment else MEASURED, asked.models or SHIPPED)


if __name__ == "__main__":
    main()
