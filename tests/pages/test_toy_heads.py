"""In every toy the number of heads can be chosen, or the sidebar says why it cannot."""

from __future__ import annotations

import pytest

from lab.course.lessons import LESSONS, Toy
from lab.ui.parameters import CONSTRUCTED, RANDOM, TRAINED
from tests.pages.apptest import visit

WITH_HEADS = [
    (each.page.removeprefix("pages/"), each.toy) for each in LESSONS if each.toy not in (None, Toy.VOCABULARY)
]


@pytest.mark.parametrize(("page", "toy"), WITH_HEADS)
@pytest.mark.parametrize("weights", [CONSTRUCTED, RANDOM, TRAINED])
def test_the_number_of_heads_can_be_chosen_or_is_explained(page: str, toy: Toy, weights: str) -> None:
    at = visit(page, mode="Toy", toy_weights=weights)
    random = [box for box in at.sidebar.number_input if box.key == "toy_heads"]
    trained = [box for box in at.sidebar.segmented_control if box.key == "toy_trained_heads"]
    fixed = [caption for caption in at.sidebar.caption if "number is fixed" in caption.value]
    assert len(random) + len(trained) + len(fixed) == 1
    if toy is Toy.HEADS:
        assert bool(random) == (weights == RANDOM) and bool(trained) == (weights == TRAINED)
    else:
        assert bool(trained) == (toy is Toy.BLANK)


@pytest.mark.parametrize(("weights", "name", "heads"), [(TRAINED, "toy_trained_heads", 4), (RANDOM, "toy_heads", 8)])
def test_a_toy_has_as_many_heads_as_are_chosen(weights: str, name: str, heads: int) -> None:
    at = visit("3_Self-attention.py", mode="Toy", toy_weights=weights, step="Map", **{name: str(heads)})
    assert not at.exception and len(at.selectbox(key="head").options) == heads
