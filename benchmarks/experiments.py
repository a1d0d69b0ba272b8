"""How long each experiment that ships takes live: what a learner waits for with a model that has no result yet.

On the embedded model that a visitor meets first, or the first one that the experiment can test; as the server computes,
on every core of a machine that does nothing else. Bounds are of wall time on two cores. Two of them are of a part: all
heads of the shipped pairs taken away once, and one pair patched.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch

from benchmarks.results import table
from lab.evidence.lexicon import TEMPLATES
from lab.evidence.measurement import Measurement
from lab.evidence.pairs import minimal_pairs
from lab.experiments.needed_heads.ablations import without_each_head
from lab.experiments.needed_heads.measure import PAIRS
from lab.experiments.patching.measure import TEMPLATE
from lab.experiments.patching.patches import contrast, patching
from lab.models.catalogue import CATALOGUE, DEFAULT_MODEL, ships
from lab.models.loading import LoadedModel, load_model
from training.evaluation.experiments import MEASURED

HEADER = ("experiment", "model", "processor, s", "wall, s", "bound, s", "")


def run() -> tuple[list[tuple[str, str]], bool]:
    """Print the times and return them as a section of RESULTS.md; True if one is above its bound."""
    torch.set_num_threads(1)
    print("\nEach experiment live\n")
    line = "{:<24} {:<10} {:>12} {:>8} {:>8}  {}"
    print(line.format(*HEADER).rstrip())
    rows = []
    model = load_model(DEFAULT_MODEL)
    pairs = minimal_pairs(model, -(-PAIRS // len(TEMPLATES))).pairs
    one = minimal_pairs(model, 2, templates=[TEMPLATE]).pairs[0]
    runs: list[tuple[str, LoadedModel, Callable[[LoadedModel], object], float | None]] = [
        (f"every head, {len(pairs)} pairs", model, lambda model: without_each_head(model, pairs), 120),
        (f"one pair, {len(one.encoding)} tokens", model, lambda model: patching(model, contrast(one)), 3),
        *((name, _model_for(measured), measured.again, measured.seconds) for name, measured in MEASURED.items()),
    ]
    for name, model, work, bound in runs:
        row = (name, *_timed(work, model, bound))
        print(line.format(*row).rstrip(), flush=True)
        rows.append(row)
    return [("Each experiment live", table(HEADER, rows))], any(row[-1] for row in rows)


def _model_for(measured: Measurement[Any]) -> LoadedModel:
    ids = [DEFAULT_MODEL, *(entry.id for entry in CATALOGUE if ships(entry) and entry.id != DEFAULT_MODEL)]
    return next(model for model in map(load_model, ids) if not measured.untestable(model))


def _timed(
    work: Callable[[LoadedModel], object], model: LoadedModel, bound: float | None
) -> tuple[str, str, str, str, str]:
    wall, processor = time.perf_counter(), time.process_time()
    work(model)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    slow = bound is not None and wall > bound
    return model.id, f"{processor:.1f}", f"{wall:.1f}", "" if bound is None else f"{bound:.0f}", "SLOW" if slow else ""
