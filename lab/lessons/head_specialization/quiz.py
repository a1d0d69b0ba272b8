"""The last screen of the lesson on head specialization: questions about this head, and about what a score says."""

from __future__ import annotations

from lab.analysis.heads.specialization import specialization
from lab.evidence.notable import job_of
from lab.lessons.head_specialization import LESSON, checks
from lab.lessons.head_specialization.meanings import grammatical
from lab.lessons.head_specialization.view import left_out, tags_of
from lab.questions.question import Question
from lab.toy.models import is_toy
from lab.ui import runs
from lab.ui.quiz.asking import draw_checks
from lab.ui.shared.one_head import OneHead


def show_checks(view: OneHead) -> None:
    """Ask three questions; about a toy, which has no words, only questions that need no words."""
    layer = view.layer.index
    if is_toy(view.trace.model):
        draw_checks(LESSON, (checks.same_as_distance(), checks.what_shows_need(None)))
        return
    asked: list[Question | None] = [checks.same_as_distance(), checks.what_shows_need(_job(view))]
    if tags_of(view) is not None:
        every = specialization(view.trace, only_words=left_out(view))
        asked.insert(0, checks.share_or_preference(layer, every.raw[layer], every.even[layer]))
    draw_checks(LESSON, asked)


def _job(view: OneHead) -> checks.Job | None:
    """The relation that the chosen head finds, else the first one that any head of the model finds; None if unknown."""
    found = grammatical(runs.head_jobs(view.trace.model))
    here = (view.layer.index, view.head)
    own = job_of(found, *here)
    if own is not None:
        return here, own[0].job.does, own[1].score
    return next(
        (((doing.layer, doing.head), each.job.does, doing.score) for each in found for doing in each.heads[:1]), None
    )
