"""The catalogue of models, the operator's folders, and the checksums by which a damaged file of weights is found.

It imports nothing heavy, so a page may list the models without torch. In lab/models/embedded, ``sha256sum --check
SHA256SUMS`` checks the weights with the system's own tool.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

EMBEDDED = Path(__file__).parent / "embedded"
SUMS, WEIGHTS = "SHA256SUMS", "model.safetensors"


@dataclass(frozen=True)
class ModelCard:
    """One entry of the catalogue. ``repository`` is None for a model that ships with the lab.

    ``megabytes`` is the size of model.safetensors at 4 bytes for each number; the actual size on the Hub is checked
    before a download. ``origin`` says where the weights of a model that ships come from, in full sentences.
    """

    id: str
    title: str
    family: str
    megabytes: int
    licence: str
    repository: str | None = None
    origin: str = ""


CATALOGUE = (
    ModelCard(
        "lab-minilm",
        "Lab MiniLM (a real encoder, taught to fill blanks)",
        "bert",
        46,
        "Apache-2.0",
        origin="It began as MiniLM, a small model that had learned to imitate a larger BERT, and to compare sentences. "
        "The lab then trained it to fill blanks.",
    ),
    ModelCard(
        "lab-bert",
        "Lab BERT (small, trained here from nothing)",
        "bert",
        11,
        "Apache-2.0",
        origin="It began with random numbers, and learned from texts alone: to fill blanks, and to say whether one "
        "sentence follows another.",
    ),
    ModelCard(
        "lab-gpt2",
        "Lab GPT-2 (small, trained for this lab)",
        "gpt2",
        11,
        "Apache-2.0",
        origin="It began with random numbers, and learned from texts alone: to predict the next token.",
    ),
    ModelCard("bert-base-uncased", "BERT base", "bert", 440, "Apache-2.0", "google-bert/bert-base-uncased"),
    ModelCard("bert-large-uncased", "BERT large", "bert", 1345, "Apache-2.0", "google-bert/bert-large-uncased"),
    ModelCard(
        "bert-base-multilingual-uncased",
        "BERT base, 102 languages",
        "bert",
        672,
        "Apache-2.0",
        "google-bert/bert-base-multilingual-uncased",
    ),
    ModelCard(
        "distilbert-base-uncased",
        "DistilBERT",
        "distilbert",
        268,
        "Apache-2.0",
        "distilbert/distilbert-base-uncased",
    ),
    ModelCard("roberta-base", "RoBERTa base", "roberta", 499, "MIT", "FacebookAI/roberta-base"),
    ModelCard("distilroberta-base", "DistilRoBERTa", "roberta", 331, "Apache-2.0", "distilbert/distilroberta-base"),
    ModelCard("modernbert-base", "ModernBERT base", "modernbert", 599, "Apache-2.0", "answerdotai/ModernBERT-base"),
    ModelCard(
        "all-MiniLM-L6-v2",
        "MiniLM, 6 layers, for sentences",
        "bert",
        91,
        "Apache-2.0",
        "sentence-transformers/all-MiniLM-L6-v2",
    ),
    ModelCard("gpt2", "GPT-2 small", "gpt2", 548, "MIT", "openai-community/gpt2"),
    ModelCard("distilgpt2", "DistilGPT-2", "gpt2", 353, "Apache-2.0", "distilbert/distilgpt2"),
)
DEFAULT_MODEL = "lab-minilm"
_TWIN = re.compile(r"(.+), random weights \(seed ([0-9]{1,9})\)")


class ModelUnavailable(RuntimeError):
    """Raised if the model is not available right now; the message gives the reason and a remedy."""


def ships(entry: ModelCard) -> bool:
    """True if this copy of the lab contains the model, in ``embedded/``."""
    return entry.repository is None and (EMBEDDED / entry.id / "config.json").is_file()


def twin_id(model_id: str, seed: int) -> str:
    """Return the id of a model's twin with random weights; see :mod:`lab.models.twin`."""
    return f"{model_id}, random weights (seed {seed})"


def twin_of(model_id: str) -> tuple[str, int] | None:
    """Return the model and the seed that :func:`twin_id` made into an id; None if the id is not a twin's id."""
    found = _TWIN.fullmatch(model_id)
    return (found[1], int(found[2])) if found else None


def card(model_id: str) -> ModelCard | None:
    """Return the catalogue's entry for ``model_id``, or None if there is no such entry."""
    return next((entry for entry in CATALOGUE if entry.id == model_id), None)


def sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def recorded(embedded: Path) -> Mapping[str, str]:
    """The checksums in the folder of embedded models, by the id of the model; none if their file is missing."""
    path = embedded / SUMS
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    return {name.removesuffix(f"/{WEIGHTS}"): digest for digest, name in (line.split() for line in lines)}


def record(embedded: Path, model_id: str) -> None:
    """Write the checksum of a model's weights beside those of the others."""
    sums = {**recorded(embedded), model_id: sha256(embedded / model_id / WEIGHTS)}
    lines = [f"{digest}  {name}/{WEIGHTS}\n" for name, digest in sorted(sums.items())]
    (embedded / SUMS).write_text("".join(lines), encoding="utf-8", newline="\n")


def is_sound(embedded: Path, model_id: str) -> bool:
    """Return whether the weights of an embedded model are there and as they were recorded, if they were."""
    try:
        found = sha256(embedded / model_id / WEIGHTS)
    except OSError:
        return False
    return recorded(embedded).get(model_id, found) == found


VARIABLE = "LAB_MODELS"


def listed() -> tuple[Path, ...]:
    """Return the folders in ``LAB_MODELS=/a/folder:/another``, each once."""
    named = [path for path in os.environ.get(VARIABLE, "").split(os.pathsep) if path]
    # os.path leaves a home that it does not know as it is, where pathlib raises an error on every page.
    return tuple(dict.fromkeys(Path(os.path.expanduser(path)).absolute() for path in named))  # noqa: PTH111


def by_name(folders: Iterable[Path]) -> dict[str, Path]:
    """Return folders by their names.

    Folders of one name, and a folder with the name of a model that ships, also have as much of their path in the name
    as tells them apart: "run_a/checkpoint-500".

    >>> list(by_name([Path("/run_a/last"), Path("/run_b/last"), Path("/models/mine")]))
    ['run_a/last', 'run_b/last', 'mine']
    """
    every = tuple(folders)
    return {_name(folder, every): folder for folder in every}


def _name(folder: Path, every: tuple[Path, ...]) -> str:
    def taken(length: int) -> bool:
        entry = card("/".join(folder.parts[-length:]))
        alike = sum(other.parts[-length:] == folder.parts[-length:] for other in every)
        return alike > 1 or (entry is not None and ships(entry))

    shortest = next((length for length in range(1, len(folder.parts)) if not taken(length)), len(folder.parts))
    return "/".join(folder.parts[-shortest:])
