"""Load a model from the repository, the Hub or a folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError, safe_open
from tokenizers import Tokenizer

from lab.models.catalogue import CATALOGUE, EMBEDDED, ModelUnavailable, card
from lab.models.config import CheckpointError, ModelConfig
from lab.models.families.registry import read_weights
from lab.models.memo import size_of
from lab.models.weights import VocabularyHead, Weights

if TYPE_CHECKING:
    from torch import Tensor

# The vocabulary's files: one for WordPiece, two for byte-level BPE.
VOCABULARIES = (("vocab.txt",), ("vocab.json", "merges.txt"))


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The content of a checkpoint folder in memory: a ``config.json`` and named tensors."""

    config: dict[str, Any]
    tensors: dict[str, Tensor]


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A model ready to run. ``source`` is its checkpoint: a folder, or tensors made in memory (toys).

    ``made`` is the call that makes the model again, for notebooks; it names only the last part of a folder's path,
    because the folders of a server are private.
    """

    id: str
    weights: Weights
    tokenizer: Tokenizer
    source: Path | Checkpoint
    made: partial[LoadedModel] | None = None

    @property
    def config(self) -> ModelConfig:
        return self.weights.config

    @property
    def vocabulary_head(self) -> VocabularyHead:
        """The head that turns a vector into words. Raises ValueError if the checkpoint has none."""
        head = self.weights.vocabulary_head
        if head is None:
            raise ValueError(f"{self.id} came without a language-modelling head, so it predicts no words.")
        return head

    @property
    def nbytes(self) -> int:
        """Bytes of the weights, which Hugging Face's module shares."""
        return size_of(self.weights)

    def __repr__(self) -> str:
        c = self.config
        return f"<{self.id}: {c.family}, {c.layers} layers, {c.heads} heads, width {c.width}>"


def load_model(name: str | Path) -> LoadedModel:
    """Load a model by its catalogue id (``"lab-bert"``, ``"bert-base-uncased"``) or a folder.

    Only safetensors are read, and no code from a checkpoint is ever run. Raises
    :class:`ModelUnavailable` if the model is unknown or the network is missing, and
    :class:`CheckpointError` if the checkpoint cannot be read.
    """
    entry = card(str(name))
    if entry is None:
        folder = Path(name).expanduser().absolute()
        if not folder.is_dir():
            ids = ", ".join(c.id for c in CATALOGUE)
            raise ModelUnavailable(f"There is no model or folder called {str(name)!r}. The catalogue has {ids}.")
        return _load_folder(folder.name, folder)
    if entry.repository is None:
        folder = EMBEDDED / entry.id
        if not folder.is_dir():
            raise ModelUnavailable(f"This copy of the lab came without {entry.id}.")
        return _load_folder(entry.id, folder)
    from lab.models.hub import download

    return _load_folder(entry.id, download(entry))


def _load_folder(model_id: str, folder: Path) -> LoadedModel:
    raw = read_json(folder / "config.json")
    weights = read_weights(raw, read_tensors(folder))
    tokenizer = read_tokenizer(folder)
    _check_tokenizer(tokenizer, weights.config, folder.name)
    return LoadedModel(model_id, weights, tokenizer, folder, partial(load_model, model_id))


def _check_tokenizer(tokenizer: Tokenizer, config: ModelConfig, name: str) -> None:
    """Refuse a tokenizer that cannot belong to this model; accept vocabularies padded to a round number."""
    size, known = tokenizer.get_vocab_size(with_added_tokens=True), config.vocabulary
    if size > known or size < known / 2:
        few = "only " if size > known else ""
        raise CheckpointError(
            f"the tokenizer knows {size} tokens and the model {few}{known}: {name} holds the tokenizer of another "
            "model."
        )
    if not config.causal and not any(tokenizer.encode("a").special_tokens_mask):
        raise CheckpointError(
            f"the tokenizer puts no special tokens around a text, and {config.family} needs them: {name} holds the "
            "tokenizer of another model."
        )


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object. Raises :class:`CheckpointError` with the name of a missing or broken file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise CheckpointError(f"{path.parent.name} has no {path.name}; is it a checkpoint folder?") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise CheckpointError(f"{path.name} in {path.parent.name} is not readable JSON; download it again.") from error
    if not isinstance(content, dict):
        raise CheckpointError(f"{path.name} in {path.parent.name} is not a JSON object.")
    return content


def _shards(folder: Path) -> list[str]:
    index = folder / "model.safetensors.index.json"
    if not index.exists():
        return ["model.safetensors"]
    shard_of = read_json(index).get("weight_map")
    if not isinstance(shard_of, dict) or not all(isinstance(name, str) for name in shard_of.values()):
        raise CheckpointError(f"{index.name} in {folder.name} names no shards; download it again.")
    return sorted(set(shard_of.values()))


def read_tensors(folder: Path) -> dict[str, Tensor]:
    """All tensors of ``model.safetensors``, or of the shards in its index."""
    tensors: dict[str, Tensor] = {}
    for name in _shards(folder):
        # Shards are in the same folder as their index, so ignore the path in a name.
        path = folder / Path(name).name
        if not path.exists():
            raise CheckpointError(f"{folder.name} has no {path.name}. This lab reads safetensors only.")
        tensors.update(read_safetensors(path, folder.name))
    return tensors


def read_safetensors(path: Path, model: str) -> dict[str, Tensor]:
    """All tensors of one file of ``model``, by their names. Raises :class:`CheckpointError` for a damaged file."""
    try:
        with safe_open(path, framework="pt") as file:
            return {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (not a dict)
    except SafetensorError as error:
        raise CheckpointError(f"{path.name} in {model} is damaged; download it again.") from error


def read_tokenizer(folder: Path) -> Tokenizer:
    """Return the fast tokenizer, from ``tokenizer.json``, or built by Hugging Face from the vocabulary files."""
    path = folder / "tokenizer.json"
    if path.exists():
        # Check the JSON first, because the library raises a bare Exception if the JSON does not describe a tokenizer.
        described = read_json(path).get("model")
        if not isinstance(described, dict) or not described.get("vocab"):
            raise CheckpointError(f"tokenizer.json in {folder.name} describes no tokenizer; download it again.")
        tokenizer = Tokenizer.from_file(str(path))
    elif any(all((folder / name).exists() for name in names) for names in VOCABULARIES):
        from transformers import AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False).backend_tokenizer
    else:
        raise CheckpointError(
            f"{folder.name} has neither tokenizer.json nor a vocabulary: vocab.txt, or vocab.json with merges.txt."
        )
    # Switch off padding and truncation, which may have been saved as on, so that the lab shows the whole text.
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
