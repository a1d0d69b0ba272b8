"""What can be chosen in every toy: the number of heads, or the reason why not; letters of one's own."""

from __future__ import annotations

import pytest

from lab.course.pages import LESSONS, Toy
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
    fixed = [caption for caption in at.sidebar.caption if "number of heads is fixed" in caption.value]
    assert len(random) + len(trained) + len(fixed) == 1
    if toy is Toy.HEADS:
        assert bool(random) == (weights == RANDOM) and bool(trained) == (weights == TRAINED)
    else:
        assert bool(trained) == (toy is Toy.BLANK)


@pytest.mark.parametrize(("weights", "name", "heads"), [(TRAINED, "toy_trained_heads", 4), (RANDOM, "toy_heads", 8)])
def test_a_toy_has_as_many_heads_as_are_chosen(weights: str, name: str, heads: int) -> None:
    at = visit("3_Self-attention.py", mode="Toy", toy_weights=weights, step="map", **{name: str(heads)})
    assert len(at.selectbox(key="head").options) == heads


def test_letters_of_one_s_own_take_the_place_of_the_sentence() -> None:
    at = visit("3_Self-attention.py", mode="Toy", toy_own="a b b a c", step="Toy data")
    titles = [each.label for each in at.expander if each.icon == ":material/fact_check:"]
    assert len(titles) == 2  # of the data, and of the sentence
    for title in titles:
        at.session_state[f"_validation.{title}"] = True  # opens it
    at.run()
    lengths = [
        frame.value.set_index("check").loc["sentence lengths", "found"]
        for frame in at.dataframe
        if "check" in frame.value
    ]
    assert lengths[-1] == "from 5 to 5" != lengths[0]


@pytest.mark.parametrize("typed", ["a z", "z" * 64, "<script>", "🙂🙂", "مرحبا", "a"])
def test_letters_that_a_toy_does_not_know_lose_nothing(typed: str) -> None:
    at = visit("3_Self-attention.py", mode="Toy", toy_weights=CONSTRUCTED, toy_own=typed, step="map")
    said = " ".join(warning.value for warning in at.warning)
    assert "You see sentence 1 instead" in said
    assert at.sidebar.text_input(key="toy_own").value == typed
