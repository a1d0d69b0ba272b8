"""The catalogue of models. It imports nothing heavy, so a page may list the models without torch."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

EMBEDDED = Path(__file__).parent / "embedded"


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
        origin="It began as MiniLM, a model that had learned from a larger BERT and then from pairs of sentences. For "
        "this lab, it learned to fill blanks.",
    ),
    ModelCard(
        "lab-bert",
        "Lab BERT (small, trained here from nothing)",
        "bert",
        11,
        "Apache-2.0",
        origin="It began with random numbers. For this lab, it learned from texts alone: to fill blanks, and to say "
        "whether one sentence follows another.",
    ),
    ModelCard(
        "lab-gpt2",
        "Lab GPT-2 (small, trained for this lab)",
        "gpt2",
        11,
        "Apache-2.0",
        origin="It began with random numbers. For this lab, it learned from texts alone: to predict the next token.",
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
