"""The trained parts that ship with the lab, a few facts about each part, and the sizes of the papers' models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from lab.models.catalogue import CATALOGUE, EMBEDDED
from lab.models.config import ModelConfig
from lab.reference.models.model_cards import CARD, ModelCardText, read_model_card


@dataclass(frozen=True)
class PublishedSize:
    """The numbers in a ``config.json`` that decide a model's size; see :attr:`parameters`."""

    id: str
    layers: int
    width: int
    heads: int
    ffn_width: int
    vocabulary: int
    max_tokens: int
    segments: int = 2
    causal: bool = False  # GPT-2 has a last LayerNorm, but neither segments nor a pooler

    @property
    def parameters(self) -> int:
        """The number of trained values, without a head for words, which uses the embeddings transposed.

        BERT has a pooler, that is, a layer for [CLS]. Each matrix has a bias, each LayerNorm two vectors.
        """
        d, norm = self.width, 2 * self.width
        embeddings = (self.vocabulary + self.max_tokens + (0 if self.causal else self.segments)) * d
        layer = 4 * (d * d + d) + 2 * d * self.ffn_width + self.ffn_width + d + 2 * norm
        rest = norm if self.causal else norm + d * d + d
        return embeddings + self.layers * layer + rest


PUBLISHED = (
    PublishedSize("bert-base-uncased", 12, 768, 12, 3072, 30_522, 512),
    PublishedSize("bert-large-uncased", 24, 1024, 16, 4096, 30_522, 512),
    PublishedSize("bert-base-multilingual-uncased", 12, 768, 12, 3072, 105_879, 512),
    PublishedSize("gpt2", 12, 768, 12, 3072, 50_257, 1024, causal=True),
)


TEXT_PARTS = Path(__file__).parents[2] / "text" / "embedded"


@dataclass(frozen=True)
class TrainedPart:
    """A trained part that ships: its name and its folder."""

    id: str
    folder: Path

    def card(self) -> ModelCardText:
        """The model card that the makers of the part wrote."""
        return read_model_card(self.folder)


def parts() -> tuple[TrainedPart, ...]:
    """The parts with a card in this copy of the lab: models in the order of the catalogue, then the rest by name."""
    order = [entry.id for entry in CATALOGUE]
    models = sorted(_with_card(EMBEDDED), key=lambda folder: (folder.name not in order, folder.name))
    return tuple(TrainedPart(folder.name, folder) for folder in (*models, *sorted(_with_card(TEXT_PARTS))))


def _with_card(room: Path) -> list[Path]:
    return [path.parent for path in room.glob(f"*/{CARD}")]


def facts(folder: Path, card: ModelCardText | None) -> dict[str, str]:
    """The facts that learners ask for first: architecture, parameters, size, licence, training texts.

    The facts are read from the files or, if the files lack them, from the card: from ``library_name`` and ``license``
    in its metadata, and from the names in its table of sources. Unknown facts are left out.
    """
    front: Mapping[str, Any] = card.front if card else {}
    count = parameters(folder)
    sources = card.column("source") if card else ()
    found = {
        "Architecture": architecture(folder),
        "Library": front.get("library_name"),
        "Parameters": f"{count:,}" if count else None,
        "Size": f"{sum(file.stat().st_size for file in folder.rglob('*') if file.is_file()) / 1e6:.1f} MB",
        "Licence": front.get("license"),
        "Trained on": f"{len(sources)} sources: {', '.join(sources)}" if sources else None,
    }
    return {name: str(value) for name, value in found.items() if value}


def architecture(folder: Path) -> str | None:
    """The shape of a model from its config.json, or the steps of a spaCy pipeline from its meta.json, or None."""
    if (folder / "config.json").is_file():
        # These calls import torch, which the page that lists the parts has loaded by then.
        from lab.models.families.registry import family_of
        from lab.models.loading import read_settings

        raw = read_settings(folder)
        family = family_of(raw)
        c = family.read_config(raw)
        return (
            f"{family.title}: {c.layers} layers of {c.heads} heads, {c.width} wide, {c.max_tokens} positions, "
            f"a vocabulary of {c.vocabulary:,}"
        )
    if (folder / "meta.json").is_file():
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        return f"spaCy pipeline: {', '.join(meta['pipeline'])}"
    return None


def specification(folder: Path) -> dict[str, int] | None:
    """The sizes of a model that ships, from its config.json and its weights; None if the part is not a model."""
    if not (folder / "config.json").is_file():
        return None
    from lab.models.families.registry import family_of
    from lab.models.loading import read_settings

    raw = read_settings(folder)
    c = family_of(raw).read_config(raw)
    return sizes(c, parameters(folder) or 0)


def sizes(of: ModelConfig | PublishedSize, count: int) -> dict[str, int]:
    """The sizes of a model with ``count`` parameters, by their names on the page."""
    return {
        "Layers": of.layers,
        "Heads in a layer": of.heads,
        "Heads in all": of.layers * of.heads,
        "Hidden size": of.width,
        "Feed-forward size": of.ffn_width,
        "Vocabulary": of.vocabulary,
        "Positions": of.max_tokens,
        "Parameters": count,
    }


def parameters(folder: Path) -> int | None:
    """Count the numbers in a checkpoint's safetensors, reading only their headers. None without any, or if one is
    damaged.
    """
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        return None
    count = 0
    for path in files:
        try:
            with safe_open(path, framework="np") as file:
                count += sum(prod(file.get_slice(name).get_shape()) for name in file.keys())  # noqa: SIM118 (not a dict)
        except (SafetensorError, OSError):
            return None
    return count
