"""Lesson 8: the steps of a layer after attention: feed-forward network, residual sum, LayerNorm."""

from collections.abc import Callable

from lab.lessons.feed_forward import neurons, residual, screens
from lab.lessons.feed_forward.blank import show_blank
from lab.lessons.feed_forward.layers import show_layers
from lab.lessons.feed_forward.quiz import show_checks
from lab.lessons.feed_forward.view import FeedForwardView, draw_sentence, look, middle_layer
from lab.models.trace import Trace
from lab.ui.page import LessonPage
from lab.ui.play import Screens


def _look(page: LessonPage, trace: Trace) -> Callable[[str], FeedForwardView]:
    layer = page.layer_control(trace, middle_layer)
    return lambda step: look(page, trace, layer)


SCREENS: Screens[FeedForwardView] = Screens(
    steps={
        "order": screens.show_order,
        "neurons": screens.show_neurons,
        "excited-by": neurons.show_excited,
        "in-the-blank": show_blank,
        "residual": residual.show_residual,
        "check": show_checks,
        "through-the-layers": show_layers,
    },
    look=_look,
    sentence=draw_sentence,
    places_sentence=("in-the-blank",),
)
