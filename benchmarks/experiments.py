"""How long each experiment that ships takes live: what a learner waits for with a model that has no result yet.

On the embedded model that a visitor meets first, or the first one that the experiment can test; on one thread, as the
server computes. Bounds are of processor time, so that what else runs on the machine does not count.
"""

from __future__ import annotations

import time

import torch

from benchmarks.results import table
from lab.models.catalogue import CATALOGUE, DEFAULT_MODEL, ships
from lab.models.loading import LoadedModel, load_model
from training.evaluation.experiments import MEASURED, Measured

HEADER = ("experiment", "model", "processor, s", "wall, s", "bound, s", "")


def run() -> tuple[list[tuple[str, str]], bool]:
    """Print the times and return them as a section of RESULTS.md; True if one is above its bound."""
    torch.set_num_threads(1)
    print("\nEach experiment live\n")
    line = "{:<14} {:<10} {:>12} {:>8} {:>8}  {}"
    print(line.format(*HEADER).rstrip())
    rows = []
    for name, measured in MEASURED.items():
        row = (name, *_timed(measured, _model_for(measured)))
        print(line.format(*row).rstrip(), flush=True)
        rows.append(row)
    return [("Each experiment live", table(HEADER, rows))], any(row[-1] for row in rows)


def _model_for(measured: Measured) -> LoadedModel:
    ids = [DEFAULT_MODEL, *(entry.id for entry in CATALOGUE if ships(entry) and entry.id != DEFAULT_MODEL)]
    return next(model for model in map(load_model, ids) if not measured.untestable(model))


def _timed(measured: Measured, model: LoadedModel) -> tuple[str, str, str, str, str]:
    wall, processor = time.perf_counter(), time.process_time()
    measured.tables(model)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    bound = "" if measured.seconds is None else f"{measured.seconds:.0f}"
    slow = measured.seconds is not None and processor > measured.seconds
    return model.id, f"{processor:.1f}", f"{wall:.1f}", bound, "SLOW" if slow else ""
