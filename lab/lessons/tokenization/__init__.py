"""Lesson 1: Tokenization. Each step is the file of its id; ``lesson.toml`` has their order and the fixed texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.models.trace import Trace
from lab.ui.page import LessonPage
from lab.ui.play import Parts

if TYPE_CHECKING:
    from lab.lessons.tokenization.view import TokenizationView

LESSON = "tokenization"


# The modules of this package can be imported only when the package itself has been.


def look(page: LessonPage, trace: Trace, step: str) -> TokenizationView:
    """Read the texts, and draw the badge; see :mod:`lab.lessons.tokenization.view`."""
    from lab.lessons.tokenization.view import look as read_texts

    return read_texts(page, trace)


def show_toy(page: LessonPage) -> None:
    """Draw the page of the toy, whose vocabulary is learned; see :mod:`lab.lessons.tokenization.toy`."""
    from lab.lessons.tokenization.toy import show_toy as draw_toy

    draw_toy(page)


PARTS: Parts[TokenizationView] = Parts(look=look, toy_page=show_toy)
