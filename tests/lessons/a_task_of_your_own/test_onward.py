"""The end of the course is short, about the family on screen, and each claim in it has its paper."""

import re

import pytest

import lab
from lab.lessons.a_task_of_your_own.onward import ONWARD, uses
from tests.pages.apptest import reveal, visit, words

MODELS = ("lab-minilm", "lab-bert", "lab-gpt2")
PAGE = "11_A_task_of_your_own.py"


def run(model: str) -> lab.Trace:
    return lab.trace(lab.load_model(model), "The cat sat on the mat.")


def test_it_is_short_and_each_sentence_has_a_paper() -> None:
    assert len(ONWARD.split()) <= 120
    for sentence in re.split(r"(?<=\d\)\.) ", ONWARD):
        assert re.search(r"\b(19|20)\d\d\b", sentence), sentence


@pytest.mark.parametrize("model", MODELS)
def test_the_ending_is_about_the_family_on_screen(model: str) -> None:
    """A text of GPT-2 has no [CLS], so nothing is said of its vector."""
    trace = run(model)
    told = uses(trace)
    assert ("[CLS]" in told) == ("[CLS]" in trace.tokens)
    assert len(told.split()) <= 70 and re.search(r"\b20\d\d\b", told)
    assert told in words(reveal(visit(PAGE, step="Check", model=model)))
