"""Keep the words that a model's heads name in a large treebank, part by part, in Parquet files.

A part has :data:`lab.evidence.relation_cases.CHUNK` sentences, counted from the first of half A. The result of a part
depends neither on the machine nor on the number of parts computed at once. A file is written under a temporary name and
then renamed, so a file with its final name is complete. The file records the hashes of weights, sentences and code, and
the part is computed again if one of them differs.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import tokenizers
import torch

from lab.evidence import relation_cases
from lab.evidence.code_hash import code_hash
from lab.evidence.relation_cases import Cases, find_cases
from lab.evidence.shipped import model_hash
from lab.evidence.treebank import Sentence
from lab.models.loading import LoadedModel, load_model
from lab.models.twin import untrained_seed, untrained_twin

OWN, TWIN = "own", "twin"


class OtherWeights(RuntimeError):
    """Raised if a machine has different weights under the same model name."""


@dataclass(frozen=True)
class TreebankPart:
    """Some sentences of a treebank, to be read by a model or by its untrained twin.

    Attributes
    ----------
    reader
        :data:`OWN` or :data:`TWIN`.
    start
        The number of the first sentence, from 0.
    sentences
        The sentences.
    model
        The model's name for :func:`lab.models.loading.load_model`.
    weights
        The model's hash; a worker with different weights under this name refuses the part.
    """

    reader: str
    start: int
    sentences: tuple[Sentence, ...]
    model: str
    weights: str

    @property
    def file(self) -> str:
        return f"{self.reader}-{self.start:07}.parquet"

    @cached_property
    def made_of(self) -> dict[bytes, bytes]:
        """The hashes of model, data and code that the part's file records."""
        seed = untrained_seed(Path(self.model).name)[1] if self.reader == TWIN else None
        found = {
            "model": self.weights,
            "data": _hash(repr([tuple(sentence) for sentence in self.sentences])),
            "code": _hash(repr((self.reader, seed, _code()))),
        }
        return {name.encode(): value.encode() for name, value in found.items()}

    def is_written(self, folder: Path) -> bool:
        """True if ``folder`` has the part's file, made from this model, these sentences and this code."""
        try:
            said = pq.read_schema(folder / self.file).metadata or {}
        except (FileNotFoundError, pa.ArrowInvalid):
            return False
        return all(said.get(name) == value for name, value in self.made_of.items())

    def write(self, folder: Path, content: bytes) -> None:
        """Write the part's file; under its final name the file is complete or absent."""
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = folder / f"{self.file}.unfinished"
        unfinished.write_bytes(content)
        unfinished.replace(folder / self.file)


def plan(model: LoadedModel, name: str, sentences: Sequence[Sentence]) -> list[TreebankPart]:
    """Return the parts of a treebank, first for the model loaded by ``name``, then for its twin."""
    weights = model_hash(model)
    return [
        TreebankPart(reader, start, tuple(sentences[start : start + relation_cases.CHUNK]), name, weights)
        for reader in (OWN, TWIN)
        for start in range(0, len(sentences), relation_cases.CHUNK)
    ]


def measured(part: TreebankPart) -> bytes:
    """Compute the content of a part's file, on any machine.

    Computation runs on one thread, because the rounding of sums depends on the number of threads. To use several cores,
    compute several parts at once.
    """
    torch.set_num_threads(1)
    model = _loaded(part.model, part.weights)
    read = untrained_twin(model) if part.reader == TWIN else model
    return _as_parquet(find_cases(read, part.sentences), part)


@lru_cache(maxsize=1)
def _loaded(name: str, weights: str) -> LoadedModel:
    model = load_model(name)
    if model_hash(model) != weights:
        raise OtherWeights(f"A worker has other weights under the name {name}; each needs the same files.")
    return model


@dataclass(frozen=True)
class TreebankParts:
    """The cases of all parts of one reader, in files; only one relation's cases are read into memory at a time."""

    folder: Path
    parts: tuple[TreebankPart, ...]

    def of(self, relation: str) -> Cases:
        """Return the cases of one relation, in reading order."""
        found = [(part.start, _from_parquet(self.folder / part.file, relation)) for part in self.parts]
        return Cases(
            causal=found[0][1].causal,
            relations=tuple(each for _, cases in found for each in cases.relations),
            sentence=np.concatenate([start + cases.sentence for start, cases in found]),
            dependent=np.concatenate([cases.dependent for _, cases in found]),
            head=np.concatenate([cases.head for _, cases in found]),
            named=np.concatenate([cases.named for _, cases in found]),
        )


def _as_parquet(cases: Cases, part: TreebankPart) -> bytes:
    """Parquet content with one row group per relation, so that :class:`TreebankParts` can read relations singly."""
    _, *shape = cases.named.shape
    says: dict[bytes, bytes] = {
        **part.made_of,
        b"shape": ",".join(map(str, shape)).encode(),
        b"causal": str(int(cases.causal)).encode(),
    }
    table = pa.table(
        {
            "relation": pa.array(cases.relations, pa.string()),
            "sentence": cases.sentence.astype(np.int32),
            "dependent": cases.dependent.astype(np.int16),
            "head": cases.head.astype(np.int16),
            "named": pa.FixedSizeListArray.from_arrays(cases.named.reshape(-1), int(np.prod(shape))),
        }
    ).replace_schema_metadata(says)
    content = io.BytesIO()
    with pq.ParquetWriter(content, table.schema, compression="zstd") as file:
        for rows in _by_relation(cases.relations):
            file.write_table(table.take(rows))
    return content.getvalue()


def _by_relation(relations: Sequence[str]) -> Iterator[list[int]]:
    places: dict[str, list[int]] = {}
    for place, relation in enumerate(relations):
        places.setdefault(relation, []).append(place)
    return iter(places.values())


def _from_parquet(path: Path, relation: str) -> Cases:
    table = pq.read_table(path, filters=[("relation", "=", relation)], partitioning=None)
    said = table.schema.metadata
    shape = tuple(int(each) for each in said[b"shape"].split(b","))
    sentence, dependent, head = (table[name].to_numpy().astype(np.int64) for name in ("sentence", "dependent", "head"))
    return Cases(
        causal=bool(int(said[b"causal"])),
        relations=tuple(table["relation"].to_pylist()),
        sentence=sentence,
        dependent=dependent,
        head=head,
        named=table["named"].combine_chunks().flatten().to_numpy().reshape(-1, *shape),
    )


@cache
def _code() -> tuple[str, ...]:
    """Return the versions of libraries, and the hash of the engine's and the counting code; both decide the numbers."""
    return torch.__version__, np.__version__, tokenizers.__version__, code_hash(relation_cases.__name__)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
