"""Write what the experiments, and the story of the course, find on the embedded models, for the lab to ship.

python -m training.evaluation.experiments grammar lab-bert
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch

from lab.course.pages import EXPERIMENTS, ExperimentRecord
from lab.evidence import shipped, story
from lab.evidence.measurement import Measurement
from lab.evidence.tables import to_tables
from lab.models.batches import unwatched
from lab.models.loading import load_model
from training.command_line import SHIPPED, documented

ROOT = Path(__file__).parents[2]
# The largest difference between a result and the one that shipped that is rounding: see difference_of.
SAME = 1e-6


def _measurement(experiment: ExperimentRecord) -> Measurement[Any]:
    found: Measurement[Any] = import_module(f"lab.experiments.{experiment.id.replace('-', '_')}.measure").MEASUREMENT
    return found


# The story of the course, and the experiments in the order of the menu.
MEASURED = {found.id: found for found in (story.MEASUREMENT, *map(_measurement, EXPERIMENTS))}


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
    found = measured.replicate(model, unwatched)
    differs = difference_of(before, to_tables(found)) if before else None
    if differs is not None and differs <= SAME:
        shipped.sign(where, made)  # the numbers of before stay: git would store the files once more
    else:
        shipped.write(where, found, made)
    took = perf_counter() - began
    said = f"{experiment} {model_id}: {where.relative_to(ROOT)}, {took:.0f} s"
    if measured.seconds is not None and took > measured.seconds:
        said += f" (SLOW: at most {measured.seconds:.0f} s)"
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
    """The largest difference of the numbers in two columns, however deep they are; None for other values."""
    if isinstance(one, dict) and isinstance(other, dict):
        return _apart(sorted(one.items()), sorted(other.items()))
    if isinstance(one, tuple) and isinstance(other, tuple):
        return _apart(list(one), list(other))
    if isinstance(one, list) and isinstance(other, list):
        one, other = (_by_key(each) for each in (one, other))
        if len(one) != len(other):
            return None
        each = [_apart(*both) for both in zip(one, other, strict=True)]
        return None if None in each else max((value for value in each if value is not None), default=0.0)
    if isinstance(one, float) and isinstance(other, float):
        # A result ships in single precision in places; nan is nan.
        near = np.isnan(one) and np.isnan(other)
        return 0.0 if near else float(abs(np.float32(one) - np.float32(other))) / max(1.0, abs(one))
    return 0.0 if one == other else None


def _by_key(values: list[Any]) -> list[Any]:
    """A mapping of a result, which is kept as a list, in the order of its keys; any other list as it is."""
    mapping = values and all(isinstance(each, dict) and each.keys() == {"key", "value"} for each in values)
    return sorted(values, key=lambda each: each["key"]) if mapping else values


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
