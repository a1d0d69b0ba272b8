"""The last screen of the feed-forward lesson: questions graded on this text, this layer, this token."""

from __future__ import annotations

from functools import partial

import numpy as np

from lab.analysis.layers.feed_forward import share_below_zero, silent
from lab.analysis.layers.neurons_off import NeuronOff, neurons_off
from lab.analysis.layers.sublayers import changes_untrained, sublayer_changes
from lab.analysis.words.masking import asked_run
from lab.course.words import named
from lab.figures.choices import CHANGE_LENGTH
from lab.lessons.feed_forward import LESSON, blank_checks, checks, residual_figures
from lab.lessons.feed_forward.residual import seed_of
from lab.lessons.feed_forward.view import FeedForwardView
from lab.questions.question import Question
from lab.ui.quiz.asking import draw_checks
from lab.ui.shared.prediction import cannot_predict

_BENT = 1.2  # where GELU is neither 0 nor the identity: a neuron near it makes the better question


def show_checks(view: FeedForwardView) -> None:
    """Four of the questions that this run decides."""
    trace, layer, token = view.trace, view.layer, view.token
    changes = sublayer_changes(trace)
    steps = list(view.norms.values())[-1]
    largest = np.argsort(-np.abs(steps.x), kind="stable")
    hidden = layer.ffn_hidden[token].numpy()
    near = [int(i) for i in np.argsort(np.abs(hidden - _BENT), kind="stable")[:8]]
    share = share_below_zero(layer, token)
    candidates = (
        *_about_the_blank(view),
        blank_checks.another_word(trace, layer.index, token),
        next(filter(None, (checks.neuron_activation(trace, view.steps_of(i), token, i) for i in near)), None),
        checks.parameter_share(view.config),
        _trained(view),
        None if silent(layer) else checks.below_zero(share, named(trace, token), view.config.ffn_width),
        next(filter(None, (checks.normalized_value(steps, int(i)) for i in largest[:8])), None),
        checks.most_changed(trace, changes, layer.index),
        checks.larger_change(trace, changes, layer.index, token),
        checks.most_exciting_token(trace, layer, view.neuron),
        checks.shapes(view.config),
    )
    changed = partial(residual_figures.changes, trace, CHANGE_LENGTH, token)
    draw_checks(LESSON, candidates, most=4, figures={"most-changed": changed})


def _about_the_blank(view: FeedForwardView) -> tuple[Question | None, ...]:
    """What the strongest neuron of this layer does to the word in the blank, where the model predicts words."""
    blank = None if cannot_predict(view.trace.model) else asked_run(view.trace)
    if blank is None:
        return ()
    trace, place = blank
    found: tuple[NeuronOff, ...] = neurons_off(trace, place, view.layer.index)
    return (blank_checks.one_neuron_off(trace, place, view.layer.index, found[0]),)


def _trained(view: FeedForwardView) -> Question | None:
    """In how many layers training made the network add more."""
    seed = seed_of(view)
    if seed is None:
        return None
    found = sublayer_changes(view.trace), changes_untrained(view.trace, seed)
    after, before = (each.relative[:, 1, view.token] for each in found)
    return checks.more_than_untrained(view.name, after, before)
