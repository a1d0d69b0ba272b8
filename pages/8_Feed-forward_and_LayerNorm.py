"""Lesson: what a layer does after attention: feed-forward network, residual sum, LayerNorm."""

from lab.lessons.feed_forward import again, neurons, residual
from lab.lessons.feed_forward import screens as network
from lab.lessons.feed_forward.blank import show_blank
from lab.lessons.feed_forward.by_hand import by_hand
from lab.lessons.feed_forward.layers import show_layers
from lab.lessons.feed_forward.quiz import show_checks
from lab.lessons.feed_forward.view import look, middle_layer
from lab.lessons.head_specialization import again as head_specialization
from lab.lessons.inter_sentence_attention import again as sentences
from lab.lessons.multi_head_attention import again as multi_head_attention
from lab.lessons.self_attention import again as self_attention
from lab.ui.page import open_lesson
from lab.ui.play import chosen_run, play
from lab.ui.quiz.returning import with_earlier

EARLIER = {
    "inter-sentence-attention": sentences.questions,
    "head-specialization": head_specialization.questions,
    "multi-head-attention": multi_head_attention.questions,
    "self-attention": self_attention.questions,
}

page = open_lesson("8_Feed-forward_and_LayerNorm.py", again.questions)
trace = chosen_run(page)
layer = page.layer_control(trace, middle_layer)
play(
    page,
    trace,
    {
        "Order": network.show_order,
        "Neurons": network.show_neurons,
        "Activation": network.show_activation,
        "Excited by": neurons.show_excited,
        "In the blank": show_blank,
        "Residual": residual.show_residual,
        "LayerNorm": residual.show_norm,
        "Check": with_earlier(page, show_checks, EARLIER),
    },
    lambda: look(page, trace, layer),
    more={
        "One neuron": network.show_neuron,
        "Through the layers": show_layers,
        "By hand": by_hand,
    },
)
