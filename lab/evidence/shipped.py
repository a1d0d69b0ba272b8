"""Results that ship: what the embedded models' experiments found, kept beside the code as small Parquet files.

A file says of which weights, which data and which code it is. Where weights or data have another hash now, it is stale
and not used; where the code has, a test fails. ``make evaluate`` writes all of them anew.
"""

from __future__ import annotations

import hashlib
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
# What a checkpoint's folder holds that decides what the model does with a text.
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


@dataclass(frozen=True)
class Provenance:
    """What a result is of and how it was made: hashes of model, data and code, the commit, the command."""

    model: str
    data: str
    code: str
    commit: str
    command: str


def commit() -> str:
    """What is checked out; with a + where a file of the lab differs from it; "" where there is no git.

    Results are no part of what measures: one that was just written says nothing about the next.
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
    """SHA-256 of the weights, configuration and tokenizer of a model, whatever it is called."""
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
    """Where the tables of a result lie, one Parquet file each."""
    return root / experiment / model_id


def write(where: Path, tables: Mapping[str, pa.Table], made: Provenance) -> None:
    """Keep a result, in place of the one before."""
    where.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        pq.write_table(table.replace_schema_metadata(asdict(made)), where / f"{name}.parquet", **_ROOM)


def read(where: Path, model: str, data: str) -> dict[str, pa.Table] | None:
    """The tables of a result of the model and the data with these hashes; None where there is none, or a stale one."""
    tables = {path.stem: pq.read_table(path) for path in sorted(where.glob("*.parquet"))}
    made = [provenance(table) for table in tables.values()]
    fresh = all(each is not None and (each.model, each.data) == (model, data) for each in made)
    return tables if tables and fresh else None


@dataclass(eq=False)
class Results(Generic[Found]):
    """What an experiment finds, of each model: what ships with it, or what was found since this process began.

    Attributes
    ----------
    experiment
        The folder of what ships.
    replicate
        Runs the experiment on a model; what it calls with the share that is done may raise, and that ends the run.
    build
        Makes a result of its tables.
    data_hash
        Of what the experiment reads; a result of other data does not count.
    found
        Results by the hash of their model.
    """

    experiment: str
    replicate: Callable[[LoadedModel, Progress], Found]
    build: Callable[[Mapping[str, pa.Table]], Found]
    data_hash: Callable[[], str]
    found: dict[str, Found] = field(default_factory=dict)

    def known(self, model: LoadedModel) -> Found | None:
        """The result that ships with ``model`` or was found here; None where there is neither."""
        key = model_hash(model)
        if key not in self.found:
            tables = read(folder(self.experiment, model.id), key, self.data_hash())
            if tables is None:
                return None
            self.found[key] = self.build(tables)
        return self.found[key]

    def result(self, model: LoadedModel, progress: Progress = unwatched) -> Found:
        """The result; runs the experiment where there is none, once for all models with these weights."""
        known = self.known(model)
        return self.again(model, progress) if known is None else known

    def again(self, model: LoadedModel, progress: Progress = unwatched) -> Found:
        """Run the experiment; what it finds is from now on what is known of ``model``."""
        found = self.found[model_hash(model)] = self.replicate(model, progress)
        return found


def provenance(table: pa.Table) -> Provenance | None:
    """What a table says of its making; None where it says nothing."""
    said = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    names = tuple(Provenance.__dataclass_fields__)
    return Provenance(**{name: said[name] for name in names}) if all(name in said for name in names) else None
