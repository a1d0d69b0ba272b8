"""How a model is loaded: from the repository, the Hub or a folder."""

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

# WordPiece's file, or byte-level BPE's two.
VOCABULARIES = (("vocab.txt",), ("vocab.json", "merges.txt"))


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """What a checkpoint folder holds, in memory: a ``config.json`` and named tensors."""

    config: dict[str, Any]
    tensors: dict[str, Tensor]


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A model ready to run. ``source`` is its checkpoint: a folder, or tensors made in memory (toys).

    ``made`` is the call that makes it again, for notebooks; of a folder it knows the name only, as where
    a server keeps its folders is nobody's business.
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
        """What turns a vector into words. Raises ValueError when the checkpoint came without it."""
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

    Only safetensors are read and no code from a checkpoint is ever run. Raises
    :class:`ModelUnavailable` when it cannot be had (unknown, no network) and
    :class:`CheckpointError` when what was found cannot be read.
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
    """Refuse a tokenizer that cannot be this model's; a vocabulary padded to a round number is no reason to."""
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
    """Read a JSON object, or say which file is missing or broken."""
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
    """All tensors of ``model.safetensors``, or of the shards its index names."""
    tensors: dict[str, Tensor] = {}
    for name in _shards(folder):
        # A shard stands beside its index; a name with a path in it is not one of ours to follow.
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
    """The fast tokenizer: from ``tokenizer.json``, else built by Hugging Face from the vocabulary files."""
    path = folder / "tokenizer.json"
    if path.exists():
        # The library raises a bare Exception on JSON that is no tokenizer, so look at the JSON first.
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
    # Whoever saved it may have left padding and truncation on; this lab shows what is there.
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
