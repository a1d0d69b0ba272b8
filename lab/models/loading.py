"""Load a model from the repository, the Hub or a folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError, safe_open
from tokenizers import Tokenizer

from lab.models.catalogue import CATALOGUE, EMBEDDED, ModelCard, ModelUnavailable, card
from lab.models.config import CheckpointError, ModelConfig
from lab.models.families.family import Family
from lab.models.families.library import (
    NO_LIMIT,
    LibraryTokenizer,
    answer,
    left_out,
    library_tokenizer,
    require_module,
    whole_config,
)
from lab.models.families.registry import FAMILIES, family_of, model_type_of, read_weights
from lab.models.memo import size_of
from lab.models.weights import VocabularyHead, Weights

if TYPE_CHECKING:
    from torch import Tensor

# The vocabulary's files: one for WordPiece, two for byte-level BPE, one for SentencePiece.
VOCABULARIES = (("vocab.txt",), ("vocab.json", "merges.txt"), ("sentencepiece.bpe.model",))
WHOLE = "model.safetensors"


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The content of a checkpoint folder in memory: a ``config.json`` and named tensors."""

    config: dict[str, Any]
    tensors: dict[str, Tensor]


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A model ready to run. ``source`` is its checkpoint: a folder, or tensors made in memory (toys).

    ``made`` is the call that makes the model again, for notebooks; it names only the last part of a folder's path,
    because the folders of a server are private. ``named`` has the special tokens that the tokenizer's settings name, by
    their roles, such as "mask_token".

    Only these properties say whether a model has a part: ``headless``, ``no_words``, ``pairs``, ``mask``,
    ``unknown``, ``padding``, ``first_token``.
    """

    id: str
    weights: Weights
    tokenizer: Tokenizer
    source: Path | Checkpoint
    made: partial[LoadedModel] | None = None
    named: Mapping[str, str] = field(default_factory=dict)

    @property
    def config(self) -> ModelConfig:
        return self.weights.config

    @property
    def vocabulary_head(self) -> VocabularyHead:
        """The head that turns a vector into words. Raises ValueError, with the reason, if the model has none."""
        head = self.weights.vocabulary_head
        if head is None:
            raise ValueError(self.headless)
        return head

    @property
    def headless(self) -> str:
        """The reason why the model gives words no scores, in a sentence; empty if it has a vocabulary head."""
        if self.weights.vocabulary_head is not None:
            return ""
        if self.weights.replaced_head is not None:
            return (
                f"{self.id} is an ELECTRA discriminator: it was trained to tell which words of a text were replaced, "
                "not to predict hidden words. So it has no vocabulary head and predicts no words."
            )
        if FAMILIES[self.config.family].decoder is None:
            return (
                f"{self.id} is an ELECTRA model without a discriminator's head. This lab does not read the vocabulary "
                "head of an ELECTRA generator, so the model predicts no words here."
            )
        missing = "a vocabulary head, the part that turns a vector into a word"
        return f"{self.id} came without {missing}, so it predicts no words."

    @property
    def no_words(self) -> str:
        """The reason why the model predicts no words of a text, in a sentence; empty if it predicts them."""
        if not self.headless and not self.config.causal and self.mask is None:
            return f"The tokenizer of {self.id} has no mask token that the model knows, so no word can be hidden."
        return self.headless

    @property
    def pairs(self) -> bool:
        """Whether the model has a next-sentence head, which tells if two texts belong together."""
        return self.weights.pair_head is not None

    @cached_property
    def mask(self) -> tuple[str, int] | None:
        """The mask token, which hides other tokens, and its id; None for a model without one (GPT-2)."""
        return self._special("mask_token", "[MASK]", "<mask>")

    @cached_property
    def padding(self) -> tuple[str, int] | None:
        """The padding token and its id, or None."""
        return self._special("pad_token", "[PAD]", "<pad>")

    @cached_property
    def unknown(self) -> int | None:
        """The id of the token for characters that the vocabulary lacks, or None."""
        # GPT-2 names its end of a text here, which it never writes for an unknown character.
        found = self._special("unk_token", "[UNK]", "<unk>")
        return None if found is None or found[0] == self.named.get("eos_token") else found[1]

    @cached_property
    def first_token(self) -> str | None:
        """The special token that begins every text, such as [CLS], or None.

        In an encoder, the vector of this token is for the whole text.
        """
        read = answer(self.tokenizer, self.id)
        return read.tokens[0] if read.special_tokens_mask[:1] == [1] else None

    def _special(self, role: str, *usual: str) -> tuple[str, int] | None:
        """Return the special token of this role: the named one, else the first of the ``usual`` ones that exists."""
        names = (self.named[role],) if role in self.named else usual
        known = ((name, self.tokenizer.token_to_id(name)) for name in names)
        rows = self.config.vocabulary  # a token that was added to the tokenizer alone has no vector
        return next(((name, found) for name, found in known if found is not None and found < rows), None)

    @property
    def nbytes(self) -> int:
        """Bytes of the weights, which Hugging Face's module shares."""
        return size_of(self.weights)

    def __repr__(self) -> str:
        c = self.config
        return f"<{self.id}: {c.family}, {c.layers} layers, {c.heads} heads, width {c.width}>"


def load_model(name: str | Path) -> LoadedModel:
    """Load a model by its catalogue id (``"lab-bert"``, ``"bert-base-uncased"``), its repository or a folder.

    Only safetensors are read, and no code from a checkpoint is ever run. Raises
    :class:`ModelUnavailable` if the model is unknown or the network is missing, and
    :class:`CheckpointError` if the checkpoint cannot be read.
    """
    entry = card(str(name)) or _card_of_repository(str(name))
    if entry is None:
        folder = _folder(name)
        return _load_folder(folder.name, folder)
    if entry.repository is None:
        folder = EMBEDDED / entry.id
        if not folder.is_dir():
            raise ModelUnavailable(f"This copy of the lab came without {entry.id}.")
        return _load_folder(entry.id, folder)
    from lab.models.hub import download

    return _load_folder(entry.id, download(entry))


def _card_of_repository(name: str) -> ModelCard | None:
    """Return the catalogue's entry for a repository of the Hub, such as ``google-bert/bert-base-uncased``."""
    return next((entry for entry in CATALOGUE if entry.repository is not None and entry.repository == name), None)


def _folder(name: str | Path) -> Path:
    """Return the folder of this name. Raises :class:`ModelUnavailable` if there is none."""
    try:
        folder = Path(name).expanduser().absolute()
        # An empty name is no folder, although Path takes it for the current one.
        found = bool(str(name).strip()) and folder.is_dir()
    except (OSError, RuntimeError, ValueError):  # a name that no file can have, or an unknown user's home
        found = False
    if not found:
        ids = ", ".join(c.id for c in CATALOGUE)
        raise ModelUnavailable(f"There is no model or folder called {str(name)!r}. The catalogue has {ids}.")
    return folder


def _load_folder(model_id: str, folder: Path) -> LoadedModel:
    checkpoint = read_checkpoint(folder)
    family = family_of(checkpoint.config)
    try:
        weights = read_weights(checkpoint.config, checkpoint.tensors)
    except CheckpointError as error:
        raise CheckpointError(f"{error}{_on_defaults(folder, checkpoint)}") from error
    if not _ships(folder):
        require_module(checkpoint.config, family, family.reference_class(weights), folder.name)
    read = read_tokenizer(folder, family)
    config = replace(
        weights.config,
        # Without numbers of segments, Hugging Face gives segment 0 to both texts of a pair.
        segments=weights.config.segments if read.segments else min(weights.config.segments, 1),
        max_tokens=min(weights.config.max_tokens, read.limit),
        from_end=read.from_end,
    )
    _check_tokenizer(read.tokenizer, config, folder.name)
    made = partial(load_model, model_id)
    return LoadedModel(model_id, replace(weights, config=config), read.tokenizer, folder, made, read.named)


def _ships(folder: Path) -> bool:
    return folder.parent == EMBEDDED


def read_checkpoint(folder: Path) -> Checkpoint:
    """Return a folder's settings and tensors."""
    read_json(folder / "config.json")  # a folder without it is no checkpoint, so say this first
    tensors = read_tensors(folder)
    return Checkpoint(read_settings(folder, tensors), tensors)


def read_settings(folder: Path, tensors: Iterable[str] = ()) -> dict[str, Any]:
    """Return a folder's config.json, with Hugging Face's defaults for the settings that it leaves out.

    The names of the ``tensors`` tell the family if config.json does not.
    """
    raw = read_json(folder / "config.json")
    if _ships(folder):
        return raw
    typed = {**raw, "model_type": model_type_of(raw, tensors, folder.name)}
    family = family_of(typed)
    family.require_supported(typed)  # the lab's sentence before the library's
    return whole_config(typed, family, folder.name)


def _on_defaults(folder: Path, checkpoint: Checkpoint) -> str:
    """Name the sizes that config.json left to Hugging Face's defaults, as the likely cause of a shape that is wrong."""
    names = left_out(read_json(folder / "config.json"), family_of(checkpoint.config))
    if not names:
        return ""
    given = ", ".join(f"{name} {checkpoint.config.get(name)!r}" for name in names)
    return f" config.json leaves out some sizes, for which Hugging Face takes {given}."


def _check_tokenizer(tokenizer: Tokenizer, config: ModelConfig, name: str) -> None:
    """Refuse a tokenizer that cannot belong to this model.

    The model may have more rows than the tokenizer has words: tables are padded to a round number. Tokens that were
    added later may lack a row; a text that uses such a token is refused (:mod:`lab.models.encoding`).
    """
    known, vocabulary = config.vocabulary, tokenizer.get_vocab(with_added_tokens=False)
    largest = max(vocabulary.values(), default=0)
    if largest >= known:
        raise CheckpointError(
            f"the tokenizer knows {len(vocabulary)} tokens, with ids up to {largest}, and the model only {known}: "
            f"{name} holds the tokenizer of another model."
        )
    if dropout := getattr(tokenizer.model, "dropout", None):
        raise CheckpointError(
            f"the tokenizer in {name} has dropout {dropout:g}, so it cuts the same text in another way each time. Set "
            "dropout to null in tokenizer.json."
        )
    sample = answer(tokenizer, name)
    for token, i, special in zip(sample.tokens, sample.ids, sample.special_tokens_mask, strict=True):
        if special and i >= known:
            raise CheckpointError(
                f"the tokenizer in {name} puts {token!r} around a text, and the model has no vector for it: its id is "
                f"{i}, and the model has {known} vectors."
            )
    if config.segments > 1 and max(sample.type_ids) >= config.segments:
        raise CheckpointError(
            f"the tokenizer numbers {max(sample.type_ids) + 1} segments, and the model knows only {config.segments}."
        )


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object. Raises :class:`CheckpointError` with the name of a missing or broken file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise CheckpointError(f"{path.parent.name} has no {path.name}; is it a checkpoint folder?") from error
    except OSError as error:
        raise CheckpointError(f"{path.name} in {path.parent.name} cannot be opened: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path.name} in {path.parent.name} is not readable JSON; download it again.") from error
    if not isinstance(content, dict):
        raise CheckpointError(f"{path.name} in {path.parent.name} is not a JSON object.")
    return content


def _shards(folder: Path) -> list[str]:
    # A whole file comes before an index, as in Hugging Face: the index may be left from an older save.
    index = folder / "model.safetensors.index.json"
    if (folder / WHOLE).exists() or not index.exists():
        return [WHOLE]
    shard_of = read_json(index).get("weight_map")
    if not isinstance(shard_of, dict) or not all(isinstance(name, str) for name in shard_of.values()):
        raise CheckpointError(f"{index.name} in {folder.name} names no shards; download it again.")
    return sorted(set(shard_of.values()))


def read_tensors(folder: Path) -> dict[str, Tensor]:
    """All tensors of ``model.safetensors``, or of the shards in its index."""
    tensors: dict[str, Tensor] = {}
    for name in _shards(folder):
        # Shards may be in folders below their index. Look at the name alone: in Hugging Face's cache, files are links.
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise CheckpointError(f"the index in {folder.name} names a file outside of this folder, {name!r}.")
        path = folder / name
        if not path.is_file():
            raise CheckpointError(f"{folder.name} has no {name}. This lab reads safetensors only.")
        tensors.update(read_safetensors(path, folder.name))
    return tensors


def read_safetensors(path: Path, model: str) -> dict[str, Tensor]:
    """All tensors of one file of ``model``, by their names. Raises :class:`CheckpointError` for a damaged file."""
    try:
        with safe_open(path, framework="pt") as file:
            return {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (not a dict)
    except (SafetensorError, OSError) as error:
        raise CheckpointError(f"{path.name} in {model} is damaged; download it again.") from error


def read_tokenizer(folder: Path, family: Family) -> LibraryTokenizer:
    """Return the tokenizer of a folder with a model of ``family``.

    A folder that does not ship with the lab has the tokenizer that Hugging Face's AutoTokenizer makes of it.
    """
    path = folder / "tokenizer.json"
    if path.exists():
        # Check the JSON first, because the library's own words for a broken file say little.
        described = read_json(path).get("model")
        if not isinstance(described, dict) or not described.get("vocab"):
            raise CheckpointError(f"tokenizer.json in {folder.name} describes no tokenizer; download it again.")
    elif not any(all((folder / name).exists() for name in names) for names in VOCABULARIES):
        raise CheckpointError(
            f"{folder.name} has neither tokenizer.json nor a vocabulary: "
            f"{', or '.join(' with '.join(names) for names in VOCABULARIES)}."
        )
    settings = folder / "tokenizer_config.json"
    said = read_json(settings) if settings.exists() else {}
    if _ships(folder):
        named = {role: token for role, token in said.items() if role.endswith("_token") and isinstance(token, str)}
        limit = said.get("model_max_length", NO_LIMIT)
        read = LibraryTokenizer(Tokenizer.from_file(str(path)), True, limit, False, named)
    else:
        read = library_tokenizer(folder, family)
    # Switch off padding and truncation, which may have been saved as on, so that the lab shows the whole text.
    read.tokenizer.no_padding()
    read.tokenizer.no_truncation()
    return read
