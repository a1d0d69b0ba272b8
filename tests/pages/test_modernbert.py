"""ModernBERT on every page: each step comes up, and what is said of positions, masks, gates and biases is its own."""

from __future__ import annotations

import re

import pytest

from lab.course.pages import BENCHES, LESSONS
from tests.checkpoints import WINDOW
from tests.pages.apptest import Offer, reveal, sentence_of, unfold, visit, walk, words
from tests.thorough import some

TEXT = "The cat sat on the mat."
# What no page may say of it: it has no such parts.
UNTRUE = (r"segment table", r"position table", r"its bias\b", r"\bb_[QKVO1]\b", r"position picks a row")
PAGES = ["0_Course.py", "20_Models.py"]
PAGES += [lesson.page.removeprefix("pages/") for lesson in LESSONS]
PAGES += [bench.page.removeprefix("pages/") for bench in BENCHES]


@pytest.mark.parametrize("page", some(PAGES, 6))
def test_every_step_of_every_page_bears_it(page: str, offer: Offer) -> None:
    at = visit(page, model=offer("modernbert"), text=TEXT, layer="2", head="3", token="3", key="5")
    stepped = any(each.key == "step" for each in at.get("button_group"))
    for step in walk(at) if stepped else [""]:
        said = words(at) + "".join(formula.value for formula in at.latex)
        for untrue in UNTRUE:
            assert not re.search(untrue, said) or step == "by-hand", (step, untrue)


def test_rotary_positions_say_whether_the_model_turns(offer: Offer) -> None:
    asked = {"step": "rotary", "text": TEXT, "token": "3", "key": "4"}
    own = words(reveal(visit("2_Embeddings.py", model=offer("modernbert"), **asked)))
    assert "does this in every layer. The base of its ω is 160,000 in its global layers and 10,000 in its local" in own
    assert "with sinusoids added" in own and "learned positions added" not in own
    bert = words(reveal(visit("2_Embeddings.py", **asked)))
    assert "does not do this" in bert and "learned positions added" in bert
    # What differs between places at one offset is rounding.
    (shown,) = re.findall(r"rounding \(\*\*(.*?)\*\*\)", bert)
    assert float(shown) < 1e-5


def test_the_map_of_a_local_layer_is_empty_outside_its_window(offer: Offer) -> None:
    at = reveal(visit("3_Self-attention.py", model=offer("modernbert"), step="map", text=TEXT, token="3", layer="2"))
    weights = sentence_of(at)[1]["weights"]
    n = int(len(weights.ravel()) ** 0.5)
    row = weights.reshape(n, n)[2]
    assert (row[3 + WINDOW :] == 0).all() and (row[: 3 + WINDOW] > 0).all()


def test_masked_scores_of_a_local_layer_are_no_numbers(offer: Offer) -> None:
    at = visit("54_Tensors.py", model=offer("modernbert"), text=TEXT, layer="2", tensor="layer.scaled_scores")
    assert "are masked (−∞)" in words(at)


def test_a_tensor_that_this_layer_lacks_is_not_offered(offer: Offer) -> None:
    asked = {"model": offer("modernbert"), "text": TEXT, "tensor": "layer.weights.norm_1.gamma"}
    at = visit("54_Tensors.py", layer="1", **asked)
    assert "There is no tensor" in words(at)
    assert "layer.weights.norm_1.gamma" not in at.selectbox(key="_tensor").options
    assert "There is no tensor" not in words(visit("54_Tensors.py", layer="2", **asked))


def test_the_first_layer_has_one_layer_norm(offer: Offer) -> None:
    asked = {"model": offer("modernbert"), "text": TEXT}
    page = "8_Feed-forward_and_LayerNorm.py"
    first = reveal(visit(page, step="residual", layer="1", norm="before attention", **asked))
    assert list(unfold(first, "_layer_norm").segmented_control(key="norm").options) == [
        "before the feed-forward network"
    ]
    assert "This first layer has no LayerNorm before attention" in words(first)
    assert "This first layer" not in words(reveal(visit(page, step="residual", layer="2", **asked)))


def test_break_it_takes_the_window_away(offer: Offer) -> None:
    asked = {"model": offer("modernbert"), "step": "break-it", "layer": "2", "text": TEXT}
    at = unfold(reveal(visit("3_Self-attention.py", **asked)), "_broken")
    for key in [str(toggle.key) for toggle in at.toggle]:
        at.toggle(key=key).set_value(True).run()
    assert f"hides all tokens that are more than {WINDOW} tokens away" in words(at)


def test_the_position_lab_knows_of_windows(offer: Offer) -> None:
    asked = {"model": offer("modernbert"), "step": "position-lab", "text": TEXT}
    shuffled = words(reveal(visit("2_Embeddings.py", order="shuffled", **asked)))
    assert f"a token sees only {WINDOW} tokens to either side" in shuffled
    assert "are others" in shuffled
    assert "are the old ones, each at its token’s new place" in words(
        reveal(visit("2_Embeddings.py", order="reversed", **asked))
    )
