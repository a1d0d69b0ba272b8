"""Check: questions about this head, and about what a score says; each is in the file of the step that it is about."""

from __future__ import annotations

from lab.lessons.head_specialization import LESSON
from lab.lessons.head_specialization.does_it_matter import what_shows_need
from lab.lessons.head_specialization.grammar import same_as_distance
from lab.lessons.head_specialization.kinds_of_words import share_or_preference
from lab.ui.quiz.asking import draw_checks
from lab.ui.shared.one_head import OneHead, show_sentence


def show(view: OneHead) -> None:
    """Ask the three questions; about a toy, which has no words, only those that need no words."""
    show_sentence(view, arcs=False)
    asked = (share_or_preference, same_as_distance, what_shows_need)
    draw_checks(LESSON, [each(view.spot) for each in asked])
