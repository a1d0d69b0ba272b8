"""The last screen of the embeddings lesson: questions graded on this text and this model."""

from __future__ import annotations

import numpy as np

from lab.analysis.layers.embeddings import worked_dimension
from lab.course.sentences.two_meanings import TwoMeanings
from lab.lessons.embeddings import LESSON, checks, word_checks
from lab.lessons.embeddings.like_words import offered, uses_of
from lab.lessons.embeddings.screens import EmbeddingView
from lab.models.interventions import Interventions
from lab.questions.question import Question
from lab.ui.parameters import MODE, PE_BASE, PE_WIDTH, SENSE, TOY
from lab.ui.quiz.asking import draw_checks

_BITTEN = TwoMeanings("dog", "The dog bit the man.", "The man bit the dog.")


def show_checks(view: EmbeddingView) -> None:
    """Four questions, those that this text decides."""
    trace, token, width, base = view.trace, view.token, PE_WIDTH.default, float(PE_BASE.default)
    # The largest numbers of the token's sum: two decimals of them say enough. Two dimensions, because the second
    # question names the sum that the first one asks for.
    second, first = np.argsort(np.abs(view.parts["sum"][token]), kind="stable")[-2:].tolist()
    candidates = (
        word_checks.nearest_word(trace, token),
        *(_of_sentences(view) if view.page.selection[MODE] != TOY else ()),
        checks.turns_fastest(width, base),
        checks.added_up(trace, token, first, worked_dimension(trace, token, first)),
        checks.same_distance(width, base),
        *_of_table(view),
        checks.normalized(trace, token, second, worked_dimension(trace, token, second)),
    )
    draw_checks(LESSON, candidates, most=4)


def _of_sentences(view: EmbeddingView) -> tuple[Question | None, ...]:
    """Questions about words in sentences of the lab's."""
    model = view.trace.model
    known = {name: word for name, word in offered(model).items() if name != SENSE.chosen()}
    apart = next(reversed(known.values()), None)
    without = Interventions(no_positions=True)
    return (
        None if apart is None else word_checks.where_equal(uses_of(model, apart)),
        word_checks.who_bit_whom(uses_of(model, _BITTEN), uses_of(model, _BITTEN, without)),
    )


def _of_table(view: EmbeddingView) -> tuple[Question | None, ...]:
    """Questions about the learned table of positions, where there is one."""
    table = view.trace.model.weights.embeddings.position
    if table is None:
        return ()
    return (checks.learned_numbers(view.trace.model.config, len(table), view.width, len(view.trace)),)
