"""The view of the feed-forward lesson (one layer, one token, one neuron), and how its parts are chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from lab.analysis.layers.feed_forward import NeuronSteps, active_on_words, most_active, nearly_silent, neuron_steps
from lab.charts.base.figure import Figure
from lab.course.words import told_apart
from lab.models.config import ModelConfig
from lab.models.layer_trace import LayerTrace
from lab.models.trace import Trace
from lab.questions.returning import Spot
from lab.ui import selection, sidebar
from lab.ui.chosen_tokens import with_tokens
from lab.ui.page import LessonPage
from lab.ui.parameters import FIRST_NEURON, MODE, NEURON, TOY
from lab.ui.parameters_of_a_run import PlaceParameter
from lab.ui.sentence import show_sentence as show_tokens

F = TypeVar("F", bound=Figure)


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
    def place(self) -> str:
        return f"layer {self.layer.index + 1}"

    @property
    def name(self) -> str:
        """The chosen token, for Markdown."""
        return told_apart(self.trace, self.token)

    @property
    def spot(self) -> Spot:
        """The token in this layer, in the first head: the questions of this lesson are about no head."""
        return Spot(self.trace, self.layer.index, 0, self.token, self.token)

    def figure(self, of: Callable[[Trace, int, int, int], F]) -> partial[F]:
        """The call that makes a figure: ``of`` with the layer, token and neuron on screen."""
        return partial(of, self.trace, self.layer.index, self.token, self.neuron)

    def steps_of(self, neuron: int) -> NeuronSteps:
        """The computation of a neuron at the chosen token, written out."""
        return neuron_steps(self.layer, self.config, self.token, neuron)


def middle_layer(trace: Trace) -> tuple[int, int]:
    """Return where the lesson begins: the first layer past the middle that responds to words, and head 0 (both from 0).

    There, vectors have collected from their neighbours, so neurons can respond to more than the token itself.
    """
    layers, quiet = trace.model.config.layers, nearly_silent(active_on_words(trace))
    return next((layer for layer in range(layers // 2, layers) if layer not in quiet), 0), 0


def look(page: LessonPage, trace: Trace, layer: int) -> FeedForwardView:
    """Move the selection inside this text and model. Until somebody chooses a neuron, it is the token's most active."""
    token, _ = with_tokens(trace)
    traced = trace.layer(layer)
    chosen = _chosen(NEURON, trace)
    neuron = chosen - 1 if chosen else most_active(traced, token, 1)[0]
    return FeedForwardView(page, trace, traced, token, neuron, page.selection[MODE] == TOY)


def chosen_first_neuron(view: FeedForwardView, drawn: int) -> int:
    """Return the first of ``drawn`` neurons, from 0; by default, the first neuron of the chosen neuron's block."""
    chosen = _chosen(FIRST_NEURON, view.trace)
    return chosen - 1 if chosen else view.neuron - view.neuron % drawn


def _chosen(place: PlaceParameter, trace: Trace) -> int:
    return selection.fit_place(place, trace.model.config.ffn_width, f"A layer of {trace.model.id}")


def choose_neuron(view: FeedForwardView) -> None:
    """Draw a field for the number of the neuron in the sidebar."""
    with sidebar.controls():
        NEURON.type_in(f"Neuron, 1 to {view.config.ffn_width:,}", view.neuron + 1, view.config.ffn_width)


def show_sentence(view: FeedForwardView) -> None:
    """Draw the sentence, without arcs, as the lesson looks at no head."""
    show_tokens(view.trace, view.token)
