"""Code that the screens of the embeddings lesson share: the chosen tokens, and the dimensions that are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from lab.analysis.layers.embeddings import Array, parts
from lab.course.sentences.looks import is_story
from lab.course.words import quoted
from lab.figures.embedding_figures import DIMENSIONS
from lab.models.trace import Trace
from lab.ui import selection, sidebar
from lab.ui.chosen_tokens import with_tokens
from lab.ui.page import LessonPage
from lab.ui.parameters import FIRST_DIMENSION, MODE, TOY

_FRANCE = "france"


@dataclass(frozen=True)
class EmbeddingView:
    """The token of a text that the learner looks at, and another token to compare it with. Both count from 0.

    ``of_toy`` is true for a toy, which knows no English word.
    """

    page: LessonPage
    trace: Trace
    token: int
    key: int
    of_toy: bool

    @cached_property
    def parts(self) -> dict[str, Array]:
        """The vectors on their way into layer 1, (n, width) each; vectors that the model does not add are left out."""
        return parts(self.trace)

    @property
    def width(self) -> int:
        """The width of the vectors that are added."""
        return int(self.parts["sum"].shape[1])

    @property
    def learned(self) -> bool:
        """True if the model has a table of positions."""
        return "position" in self.parts

    @property
    def model(self) -> str:
        return quoted(self.trace.model.id)

    @property
    def word(self) -> str:
        return quoted(self.trace.labels[self.token])

    @property
    def at_france(self) -> bool:
        """Whether *france* is chosen in the sentence about which the course is written."""
        return is_story(self.trace) and self.trace.labels[self.token] == _FRANCE


def choose_dimensions(width: int) -> int:
    """The first of the 64 dimensions that are drawn, from 0; a narrow model is drawn whole, from 0 on."""
    if width <= DIMENSIONS:
        return 0
    last, asked = width - DIMENSIONS + 1, FIRST_DIMENSION.chosen()
    if not 1 <= asked <= last:
        selection.note(
            f"The figure shows {DIMENSIONS} dimensions and can start at 1 to {last}, so the lab changed {asked} to "
            f"{last}."
        )
        asked = last
        FIRST_DIMENSION.set(asked)
    with sidebar.controls():
        FIRST_DIMENSION.type_in(f"Show {DIMENSIONS} of {width} dimensions, from", asked, last, DIMENSIONS)
    return asked - 1


def look(page: LessonPage, trace: Trace) -> EmbeddingView:
    """The selected tokens, moved to places inside this text; in the course's sentence, *france* until one is chosen."""
    token, key = with_tokens(trace, first=trace.labels.index(_FRANCE) if is_story(trace) else None)
    return EmbeddingView(page, trace, token, key, page.selection[MODE] == TOY)
