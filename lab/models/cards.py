"""Which models there are. Imports nothing heavy: a page may list them without torch."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ModelCard:
    """One entry of the catalogue. ``repository`` is None for a model that ships with the lab."""

    id: str
    title: str
    family: str
    megabytes: int
    licence: str
    repository: str | None = None


CATALOGUE = (
    ModelCard("lab-bert", "Lab BERT (small, trained for this lab)", "bert", 11, "Apache-2.0"),
    ModelCard("bert-base-uncased", "BERT base", "bert", 440, "Apache-2.0", "google-bert/bert-base-uncased"),
    ModelCard("bert-large-uncased", "BERT large", "bert", 1345, "Apache-2.0", "google-bert/bert-large-uncased"),
    ModelCard(
        "bert-base-multilingual-uncased", "BERT base, 102 languages", "bert", 672, "Apache-2.0",
        "google-bert/bert-base-multilingual-uncased",
    ),
    ModelCard(
        "distilbert-base-uncased", "DistilBERT", "distilbert", 268, "Apache-2.0",
        "distilbert/distilbert-base-uncased",
    ),
    ModelCard("gpt2", "GPT-2 small", "gpt2", 548, "MIT", "openai-community/gpt2"),
)  # fmt: skip
DEFAULT_MODEL = "lab-bert"


class ModelUnavailable(RuntimeError):
    """The model cannot be had right now; the message says why and what to do instead."""


def card(model_id: str) -> ModelCard | None:
    """The catalogue's entry of ``model_id``, or None."""
    return next((entry for entry in CATALOGUE if entry.id == model_id), None)
