"""Shipped results of the embedded models' experiments, kept beside the code as small Parquet files.

A text file beside them records the hashes of weights, data and code. If the weights or the data have changed since, the
result is stale and not used; if the code has changed, a test fails. ``make evaluate`` measures all results again; where
the numbers are as before, only the text file changes, so that git need not store the numbers once more.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow.parquet as pq

from lab.evidence.tables import float_columns, from_tables, to_tables
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
_ROOM = {"compression": "zstd", "compression_level": 19, "write_statistics": False, "store_schema": False}
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


def write(where: Path, result: object, made: Provenance) -> None:
    """Write a result in place of the previous one."""
    where.mkdir(parents=True, exist_ok=True)
    for old in where.glob("*.parquet"):
        old.unlink()
    for name, table in to_tables(result).items():
        # The bytes of floats, sorted by their place in the number, are smaller when they are compressed.
        floats, others = float_columns(table.schema)
        path = where / f"{name}.parquet"
        pq.write_table(table, path, use_byte_stream_split=floats, use_dictionary=others, **_ROOM)
    sign(where, made)


def sign(where: Path, made: Provenance) -> None:
    """Write the provenance of a result whose numbers are there."""
    (where / _MADE).write_text(json.dumps(asdict(made), indent=1) + "\n", "utf-8")


def read(where: Path, kind: type[Found], model: str, data: str) -> Found | None:
    """Return a result, with its provenance, for the model and the data with these hashes; None if there is none."""
    made = signed(where)
    if made is None or (made.model, made.data) != (model, data):
        return None
    tables = {path.stem: pq.read_table(path) for path in where.glob("*.parquet")}
    found: Any = from_tables(kind, tables) if tables else None
    return found and replace(found, made=made)


def signed(where: Path) -> Provenance | None:
    """Return the provenance of the result in a folder; None if nobody wrote it, or if it cannot be read."""
    try:
        return Provenance(**json.loads((where / _MADE).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None
