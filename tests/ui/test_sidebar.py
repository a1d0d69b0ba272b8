"""A lesson has at most five controls open in the sidebar; the others are folded, and none is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1.element_tree import Block, Widget

from lab.course.pages import LESSONS, Lesson, lesson_of
from tests.pages.apptest import visit

MOST = 5


def controls(block: Block, *, folded: bool) -> Iterator[str]:
    """The labels of the widgets in ``block``, those in an expander or those outside of any."""
    for child in block.children.values():
        if isinstance(child, Block):
            inside = child.type == "expander"
            if inside and folded:
                yield from controls(child, folded=False)
            elif not inside:
                yield from controls(child, folded=folded)
        elif isinstance(child, Widget) and not folded:
            yield str(getattr(child, "label", child.type))


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
@pytest.mark.parametrize("weights", ["", "Constructed", "Random", "Trained live"])
def test_at_most_five_controls_are_open(lesson: Lesson, weights: str) -> None:
    """A button that begins a training is no control."""
    at = visit(Path(lesson.page).name, **({"mode": "Toy", "toy_weights": weights} if weights else {}))
    shown = [label for label in controls(at.sidebar, folded=False) if label != "Train"]
    reads = weights or not lesson.steps[0].own_words
    assert (len(shown) > 1 if reads else len(shown) <= 1) and len(shown) <= MOST, shown
    if not weights and reads:
        assert {"Model", "Second sentence (optional)"} <= set(controls(at.sidebar, folded=True))


@pytest.mark.parametrize("loaded_again", [False, True])
def test_a_lesson_s_own_sentence_does_not_go_on_to_other_lessons(loaded_again: bool) -> None:
    """Also not if its page was loaded again, when the sentence is in the address."""
    own = lesson_of("inter-sentence-attention").text
    at = visit("7_Inter-sentence_attention.py", **({"text": own} if loaded_again else {}))
    assert at.text_area(key="text").value == own
    at.query_params.clear()
    at.switch_page("pages/1_Tokenization.py").run()
    assert at.text_area(key="text").value == lesson_of("tokenization").text != own
