"""The view of the feed-forward lesson (one layer, one token, one neuron), and how its parts are chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from lab.analysis.layers.feed_forward import most_active
from lab.charts.base.figure import Figure
from lab.course.sentences.looks import STORY_HEAD, is_story
from lab.course.words import spoken
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.config import ModelConfig
from lab.models.encoding import BLANK
from lab.models.layer_trace import LayerTrace
from lab.models.trace import Trace
from lab.ui import selection, sidebar
from lab.ui.chosen_tokens import with_tokens
from lab.ui.page import LessonPage
from lab.ui.parameters import MODE, NEURON, TOY
from lab.ui.sentence import show_sentence as show_tokens

F = TypeVar("F", bound=Figure)
# Layer and neuron, from 0, of the neuron with which “Excited by” begins: it fires at many an *of* of the short texts.
FAVOURITE = (2, 3)


@dataclass(frozen=True)
class FeedForwardView:
    """The layer, token and neuron on screen. Token and neuron count from 0.

    ``of_toy`` is true for a toy, which knows no English word.
    """

    page: LessonPage
    trace: Trace
    layer: LayerTrace
    token: int
    neuron: int
    of_toy: bool

    @property
    def config(self) -> ModelConfig:
        return self.trace.model.config

    @property
    def name(self) -> str:
        """The chosen token, for Markdown."""
        return spoken(self.trace, self.token)

    @property
    def number(self) -> int:
        """The layer's number, from 1."""
        return self.layer.index + 1

    @property
    def says(self) -> int | None:
        """The place at which the model says a word: its only blank, or the end of what a causal model reads."""
        blanks = [place for place, label in enumerate(self.trace.labels) if label == BLANK]
        if self.trace.model.no_words:
            return None
        return len(self.trace) - 1 if self.config.causal else blanks[0] if len(blanks) == 1 else None

    @property
    def in_story(self) -> bool:
        """Whether the layer and the token of the course's story are on screen."""
        return is_story(self.trace) and self.layer.index == STORY_HEAD[0] and self.token == self.says

    def figure(self, of: Callable[[Trace, int, int, int], F]) -> partial[F]:
        """The call that makes a figure: ``of`` with the layer, token and neuron on screen."""
        return partial(of, self.trace, self.layer.index, self.token, self.neuron)


def last_layer(trace: Trace) -> tuple[int, int]:
    """Return where the lesson begins: the last layer, and head 0 (both from 0)."""
    return trace.model.config.layers - 1, 0


def layer_of_favourite(trace: Trace) -> tuple[int, int]:
    """Return where “Excited by” begins: the layer of :data:`FAVOURITE`, or in another model the last one."""
    return (FAVOURITE[0], 0) if trace.model.id == DEFAULT_MODEL else last_layer(trace)


def look(page: LessonPage, trace: Trace, step: str) -> FeedForwardView:
    """Move the selection inside this text and model. Until somebody chooses a neuron, it is the token's most active."""
    # A neuron that the learner has typed in a step before belongs to the last layer.
    first = layer_of_favourite if step == "excited-by" and not NEURON.chosen() else last_layer
    layer = trace.layer(last_layer(trace)[0] if step == "check" else page.layer_control(trace, first))
    token, _ = with_tokens(trace)
    chosen = selection.fit_place(NEURON, trace.model.config.ffn_width, f"A layer of {trace.model.id}")
    neuron = chosen - 1 if chosen else most_active(layer, token, 1)[0]
    return FeedForwardView(page, trace, layer, token, neuron, page.selection[MODE] == TOY)


def choose_neuron(view: FeedForwardView) -> None:
    """Draw a field for the number of the neuron in the sidebar."""
    with sidebar.controls():
        NEURON.type_in(f"Neuron, 1 to {view.config.ffn_width:,}", view.neuron + 1, view.config.ffn_width)


def show_sentence(view: FeedForwardView) -> None:
    """Draw the sentence, without arcs, as the lesson looks at no head."""
    show_tokens(view.trace, view.token)
