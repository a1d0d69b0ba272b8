"""The last screen of the embeddings lesson: questions graded on this text and this model."""

from __future__ import annotations

from lab.course.sentences.two_meanings import TwoMeanings
from lab.lessons.embeddings import LESSON, checks, word_checks
from lab.lessons.embeddings.like_words import offered, uses_of
from lab.lessons.embeddings.screens import EmbeddingView
from lab.models.interventions import Interventions
from lab.questions.question import Question
from lab.ui.parameters import MODE, SENSE, TOY
from lab.ui.quiz.asking import draw_checks

_BITTEN = TwoMeanings("dog", "The dog bit the man.", "The man bit the dog.")


def show_checks(view: EmbeddingView) -> None:
    """Ask three of the questions that this text and this model decide."""
    candidates = (
        *(_of_sentences(view) if view.page.selection[MODE] != TOY else ()),
        checks.what_changes(view.trace, view.token),
        checks.no_row_left(view.trace),
        checks.cosine_of_one(),
    )
    draw_checks(LESSON, candidates)


def _of_sentences(view: EmbeddingView) -> tuple[Question | None, ...]:
    """Questions about words in sentences that the lab supplies."""
    model = view.trace.model
    known = {name: word for name, word in offered(model).items() if name != SENSE.chosen()}
    apart = next(reversed(known.values()), None)
    without = Interventions(no_positions=True)
    return (
        None if apart is None else word_checks.where_equal(uses_of(model, apart)),
        word_checks.who_bit_whom(uses_of(model, _BITTEN), uses_of(model, _BITTEN, without)),
    )
