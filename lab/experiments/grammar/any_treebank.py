"""Run the experiment on any treebank and model, on this machine's cores or on a Dask cluster.

    python -m lab.evidence grammar --model bert-base-uncased --treebank en_ewt-ud-train.conllu
    python -m lab.evidence grammar --model … --treebank … --scheduler tcp://10.0.0.1:8786

Finished parts are kept: after a kill the same command continues where it stopped. The results are the same bit by bit
whether the work runs serially, in processes or on a cluster.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from lab.evidence import shipped
from lab.evidence.reasons import LABELS
from lab.evidence.scale.parquet_parts import OWN, OtherWeights, TreebankPart, TreebankParts, plan
from lab.evidence.scale.workers import Workers, WorkersLost, processes
from lab.evidence.treebank import Half, file_hash, halves_of
from lab.evidence.word_kinds import tags_of
from lab.experiments.grammar.measure import MEASUREMENT, GrammarTest, Named, RelationRow, compared
from lab.models.catalogue import ModelUnavailable, card
from lab.models.config import CheckpointError
from lab.models.loading import load_model


class Refused(RuntimeError):
    """Raised if the command cannot be carried out; the message gives the reason."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 for success, 1 if work was lost, 2 if the command is refused."""
    asked = _parser().parse_args(arguments)
    try:
        _grammar(asked)
    except (Refused, ModelUnavailable, CheckpointError) as error:
        print(error, file=sys.stderr)
        return 2
    except (WorkersLost, OtherWeights) as error:
        print(f"{error} What is done stays: the same command goes on from there.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped. The same command goes on from there.", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m lab.evidence", description=__doc__.partition("\n")[0])
    grammar = parser.add_subparsers(required=True).add_parser(
        MEASUREMENT.id, help="Do heads know grammar? (Clark et al. 2019, table 1)"
    )
    grammar.add_argument("--model", required=True, help="an id of the catalogue, or a checkpoint folder")
    grammar.add_argument("--treebank", required=True, type=Path, metavar="FILE", help="CoNLL-U, plain or .xz")
    grammar.add_argument("--to", type=Path, metavar="FOLDER", help=".experiments/grammar/<model>/<treebank> without it")
    where = grammar.add_mutually_exclusive_group()
    where.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="of this machine; 1 is serial")
    where.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster: tcp://host:8786")
    return parser


def _grammar(asked: argparse.Namespace) -> None:
    workers, (a, b) = _workers(asked), _halves(asked.treebank)
    # The path is absolute, because a worker on this machine may run in another folder.
    name = asked.model if card(asked.model) else str(Path(asked.model).expanduser().absolute())
    model = load_model(asked.model)
    folder = asked.to or Path(".experiments", MEASUREMENT.id, model.id, asked.treebank.name.partition(".")[0])
    parts = plan(model, name, a.sentences + b.sentences)
    _compute(parts, folder / "parts", workers)
    own, twin = (
        TreebankParts(folder / "parts", tuple(part for part in parts if (part.reader == OWN) is is_own))
        for is_own in (True, False)
    )
    named = Named(own, twin, tags_of(a.sentences + b.sentences))
    found = compared(named, len(a.sentences), b.documents)
    if not found.rows:
        raise Refused(f"No relation of the paper's table is in both halves of {asked.treebank}.")
    command = f"python -m lab.evidence grammar --model {asked.model} --treebank {asked.treebank}"
    code, data = MEASUREMENT.code_hash, file_hash(asked.treebank)
    made = shipped.Provenance(parts[0].weights, data, code, shipped.commit(), command)
    shipped.write(folder, found, made)
    print(
        f"{model.id} on {asked.treebank.name}: chosen on {len(a.sentences)} sentences, "
        f"measured on {len(b.sentences)}.\n"
    )
    print("\n".join(table(found)))
    print(f"\nEvery number and every case: {folder}")


def _halves(path: Path) -> tuple[Half, Half]:
    if not path.is_file():
        raise Refused(f"There is no file {path}.")
    try:
        a, b = halves_of(path)
    except ValueError as error:
        raise Refused(f"{path} is not CoNLL-U: {error}") from error
    if not (a.sentences and b.sentences):
        raise Refused(f"{path} has not the two sentences of several words that two halves need. Is it CoNLL-U?")
    return a, b


def _workers(asked: argparse.Namespace) -> Workers:
    if asked.processes < 1:
        raise Refused("--processes is 1 or more.")
    if asked.scheduler is None:
        return processes(asked.processes)
    try:
        from lab.evidence.scale.cluster import cluster
    except ModuleNotFoundError as error:
        raise Refused(f"{error.name} is missing: pip install -r requirements-cluster.txt") from error
    return cluster(asked.scheduler)


def _compute(parts: Sequence[TreebankPart], folder: Path, workers: Workers) -> None:
    missing = [part for part in parts if not part.is_written(folder)]
    done = len(parts) - len(missing)
    print(f"{done} of {len(parts)} parts stand.", file=sys.stderr, flush=True)
    if not missing:
        return
    for part, content in workers(missing):
        part.write(folder, content)
        done += 1
        print(f"{done} of {len(parts)}", file=sys.stderr, flush=True)


def table(found: GrammarTest) -> list[str]:
    """Format the result as lines of text, in the order of the published table."""
    here = ("here", "95 %", "offset", "by kinds", "twin", "n", "verdict")
    head = ("relation", "published", "offset", "head", *here)
    lines = [head, *(_cells(row) for row in found.rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(head))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def _cells(row: RelationRow) -> tuple[str, ...]:
    shares = (
        row.published.accuracy,
        row.published.offset,
        row.accuracy,
        row.offset_accuracy,
        row.rule_accuracy,
        row.twin,
    )
    published, their_offset, here, offset, rule, twin = (f"{100 * share:.1f}" for share in shares)
    low, high = row.share_low, row.share_high
    return (
        row.relation,
        published,
        their_offset,
        row.name,
        here,
        f"{100 * low:.1f}–{100 * high:.1f}",
        offset,
        rule,
        twin,
        str(row.count),
        LABELS[row.judged.verdict],
    )
