"""Shipped results of the embedded models' experiments, kept beside the code as small Parquet files.

A text file beside them records the hashes of weights, data and code. If the weights or the data have changed since, the
result is stale and not used; if the code has changed, a test fails. ``make evaluate`` measures all results again; where
the numbers are as before, only the text file changes, so that git need not store the numbers once more.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lab.models.batches import Progress, unwatched
from lab.models.memo import once

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

Found = TypeVar("Found")
RESULTS = Path(__file__).parent / "results"
_LAB = Path(__file__).parents[1]
# The files in a checkpoint's folder, besides the weights, that change how the model reads a text.
_READ = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
)
_ROOM = {"compression": "zstd", "compression_level": 19}
_MADE = "made.json"


@dataclass(frozen=True)
class Provenance:
    """The origin of a result: hashes of model, data and code, the commit, the command."""

    model: str
    data: str
    code: str
    commit: str
    command: str


def commit() -> str:
    """Return the hash of the checked-out commit, with a + if a file of the lab differs from it; "" without git.

    Changed result files do not count, because they are not part of the measuring code.
    """
    said = []
    changed = ("status", "--porcelain", "--untracked-files=no", ".", ":!evidence/results")
    for asked in (("rev-parse", "HEAD"), changed):
        try:
            done = subprocess.run(["git", *asked], cwd=_LAB, capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return ""
        said.append(done.stdout.strip())
    return said[0] + "+" * bool(said[1])


@once
def model_hash(model: LoadedModel) -> str:
    """SHA-256 of the weights, configuration and tokenizer of a model; the model's name does not matter."""
    found = hashlib.sha256()
    if isinstance(model.source, Path):
        for path in sorted([*model.source.glob("*.safetensors"), *(model.source / name for name in _READ)]):
            if path.is_file():
                found.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    else:
        found.update(repr(sorted(model.source.config.items())).encode())
        for name, tensor in sorted(model.source.tensors.items()):
            found.update(name.encode() + np.ascontiguousarray(tensor.numpy()).tobytes())
        found.update(model.tokenizer.to_str().encode())
    return found.hexdigest()


def folder(experiment: str, model_id: str, root: Path = RESULTS) -> Path:
    """Return the folder with the tables of a result, one Parquet file for each table, and its provenance."""
    return root / experiment / model_id


def write(where: Path, tables: Mapping[str, pa.Table], made: Provenance) -> None:
    """Write a result in place of the previous one."""
    where.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        pq.write_table(table.replace_schema_metadata(None), where / f"{name}.parquet", **_ROOM)
    sign(where, made)


def sign(where: Path, made: Provenance) -> None:
    """Write the provenance of a result whose numbers are there."""
    (where / _MADE).write_text(json.dumps(asdict(made), indent=1) + "\n", "utf-8")


def read(where: Path, model: str, data: str) -> dict[str, pa.Table] | None:
    """Return the tables of a result for the model and the data with these hashes; None if there is no fresh result.

    The tables carry their provenance, which :func:`provenance` reads.
    """
    made = signed(where)
    if made is None or (made.model, made.data) != (model, data):
        return None
    paths = sorted(where.glob("*.parquet"))
    return {path.stem: pq.read_table(path).replace_schema_metadata(asdict(made)) for path in paths} or None


def signed(where: Path) -> Provenance | None:
    """Return the provenance of the result in a folder; None if nobody wrote it, or if it cannot be read."""
    try:
        return Provenance(**json.loads((where / _MADE).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


@dataclass(eq=False)
class Results(Generic[Found]):
    """The results of an experiment, by model: shipped results, and results measured since this process began.

    Attributes
    ----------
    experiment
        The folder of the shipped results.
    replicate
        Runs the experiment on a model; an exception raised by its progress function ends the run.
    build
        Rebuilds a result from its tables.
    data_hash
        Gives the hash of the experiment's data; results for other data are not used.
    found
        The results, by the hash of their model.
    """

    experiment: str
    replicate: Callable[[LoadedModel, Progress], Found]
    build: Callable[[Mapping[str, pa.Table]], Found]
    data_hash: Callable[[], str]
    found: dict[str, Found] = field(default_factory=dict)

    def known(self, model: LoadedModel) -> Found | None:
        """Return the result that ships with ``model`` or was measured in this process; else None."""
        key = model_hash(model)
        if key not in self.found:
            tables = read(folder(self.experiment, model.id), key, self.data_hash())
            if tables is None:
                return None
            self.found[key] = self.build(tables)
        return self.found[key]

    def result(self, model: LoadedModel, progress: Progress = unwatched) -> Found:
        """The result for ``model``; if there is none yet, run the experiment, once for all models with its weights."""
        known = self.known(model)
        return self.again(model, progress) if known is None else known

    def again(self, model: LoadedModel, progress: Progress = unwatched) -> Found:
        """Run the experiment and keep its result as the known one for ``model``."""
        found = self.found[model_hash(model)] = self.replicate(model, progress)
        return found


def provenance(table: pa.Table) -> Provenance | None:
    """Return the provenance recorded in a table's metadata; None if there is none."""
    said = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    names = tuple(Provenance.__dataclass_fields__)
    return Provenance(**{name: said[name] for name in names}) if all(name in said for name in names) else None
