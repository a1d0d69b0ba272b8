"""The token whose vector is for the whole text, by its name; and whether the texts about the course's model hold."""

from __future__ import annotations

from lab.course.words import token_in_words
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.loading import LoadedModel


def mark_name(model: LoadedModel) -> str:
    """Return the name of the token whose vector is for the whole text, as in a figure."""
    return "the last token" if model.config.causal else model.first_token or "the first token"


def mark_in_words(model: LoadedModel) -> str:
    """Return :func:`mark_name` for Markdown."""
    return token_in_words(mark_name(model))


def is_written_about(model: LoadedModel, *, own: bool) -> bool:
    """Return whether the lesson's findings are about this model and these sentences: not if they are the learner's."""
    return model.id == DEFAULT_MODEL and not own
