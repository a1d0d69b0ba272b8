"""The embeddings lesson, run whole: every step, both modes, every family, bad input."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

import lab
from lab.analysis.layers.embeddings import permutation_gap
from lab.course.sentences.looks import STORY_TEXT
from lab.lessons.embeddings import like_words
from lab.lessons.embeddings import sum as sum_step
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.interventions import Interventions
from tests.pages.apptest import Offer, go, looks, opened, reveal, sentence_of, unfold, visit, words
from tests.sentences import FOLLOWS

PAGE = "2_Embeddings.py"
PAIR = {"text": FOLLOWS[0], "pair": FOLLOWS[1]}


def open_step(step: str, fold: str = "", **params: str) -> AppTest:
    """The step with its question skipped, and the part with this key unfolded."""
    at = opened(PAGE, step, **params)
    return unfold(at, fold) if fold else at


def test_one_number_is_worked_out_to_what_the_model_has() -> None:
    at = open_step("sum", "_layer_norm", token="12", dimension="17", **PAIR)
    e = lab.trace(lab.load_model(DEFAULT_MODEL), PAIR["text"], PAIR["pair"]).embeddings
    shown = "".join(formula.value for formula in at.latex)
    assert f"{e.sum[11, 16].item():.4f}" in shown
    assert f"sum {e.sum[11].norm().item():.2f}" in words(at)


def test_on_the_course_s_sentence_the_sum_is_shown_on_a_pair() -> None:
    at = open_step("sum")
    trace = lab.trace(lab.load_model(DEFAULT_MODEL), *sum_step.PAIR)
    assert "A (id 0) is tokens 1 to 10, B (id 1) is tokens 11 to 16" in words(at)
    begins = trace.segment_ids.index(1)
    assert looks(at) == (begins, None) and sentence_of(at)[0]["labels"] == list(trace.labels)
    assert at.text_input(key="pair").value == "" and "pair" not in at.query_params
    own = open_step("sum", text="She opened the door.", token="3")
    assert looks(own)[0] == 2 and "segment A" not in words(own)
    alone = words(open_step("sum", model="lab-gpt2"))
    assert "segment A" not in alone and "Dimension" in alone
    assert "has no segment vectors: it learned only to continue a text" in alone and "The two vectors share" in alone


def test_a_click_on_a_strip_works_out_that_dimension() -> None:
    at = open_step("sum")
    at.session_state["summands"] = {"selection": {"cell": [{"q": 1, "k": 40}]}}
    at.run()
    assert "**Dimension 41**" in words(at)


def test_a_chosen_token_is_the_one_of_every_step() -> None:
    at = open_step("sum", **PAIR)
    at.session_state["token"] = 3
    at.run()
    assert looks(at)[0] == looks(go(at, "vectors"))[0] == 2


def test_dimensions_out_of_range_are_clamped_and_said() -> None:
    at = unfold(visit(PAGE, step="learned-or-computed", first_dimension="9000"), "_places")
    assert at.number_input(key="_first_dimension").value == 321
    assert "changed 9000 to 321" in words(at)
    at.number_input(key="_first_dimension").set_value(100).run()
    assert at.session_state["first_dimension"] == 100


def test_the_neighbours_of_a_day_are_days() -> None:
    at = open_step("like-words")
    assert "**What this means.** Nearest to “\u2068france\u2069”" in words(at).replace("\n", "")
    assert like_words.WRITTEN in words(at)
    at.button(key="_try").click().run()
    assert "“\u2068monday\u2069”" in words(at) and like_words.WRITTEN not in words(at)
    days = ("tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
    assert sum(f"“\u2068{day}\u2069”" in words(at) for day in days) == 3


def test_a_pair_is_run_again_with_other_segments() -> None:
    at = open_step("sum", "_segments")
    at.segmented_control(key="segments").set_value("left out").run()
    assert "With no segment vectors, it is “\u2068paris\u2069” (0.40)" in words(at)
    at = open_step("sum", "_segments", **PAIR)
    assert "A (id 0) is tokens 1 to 9, B (id 1) is tokens 10 to 17" in words(at) and "Write a blank (_)" in words(at)


def test_what_a_family_lacks_is_said(offer: Offer) -> None:
    name = offer("gpt2")
    assert "segment A" not in words(open_step("sum", model=name))
    assert "no LayerNorm here" in words(open_step("sum", "_layer_norm", model=name))
    lab_words = words(open_step("position-lab", model=name))
    assert "are others" in lab_words and "a mask hides some tokens" in lab_words
    assert "has no segment vectors. BERT was given them" in words(open_step("sum", model=offer("modernbert")))


def test_roberta_s_positions_begin_at_row_2(offer: Offer) -> None:
    name = offer("roberta")
    assert "position 0 is row 2" in words(open_step("learned-or-computed", model=name))


def test_position_lab_holds_outputs_against_their_tokens() -> None:
    at = visit(PAGE, step="position-lab", order="shuffled")
    assert "Take away the vectors of all places" in words(at) and "Without places, the last" not in words(at)
    assert "are the old ones, each at its token’s new place" in words(reveal(at))
    gap = permutation_gap(lab.trace(lab.load_model(DEFAULT_MODEL), STORY_TEXT), "shuffled", Interventions())
    assert f"they differ by {gap.moved[-1]:.0%} of their length" in words(at)


def test_a_row_of_equal_tokens_has_no_other_order(offer: Offer) -> None:
    at = visit(PAGE, model=offer("gpt2"), step="position-lab", text="a")
    assert "cannot be put in another order" in words(at)


def test_a_sentence_with_a_word_that_occurs_twice_is_offered() -> None:
    at = open_step("vectors")
    assert "so it gets row 2,605" in words(at)
    at.button(key="_try").click().run()
    typed = (at.text_area(key="text").value or "").lower().rstrip(".").split()
    assert len(set(typed)) < len(typed)
    assert not any(button.key == "_try" for button in at.button)


def test_the_sliders_of_positions_are_in_the_sidebar() -> None:
    at = open_step("learned-or-computed")
    assert {each.key for each in at.sidebar.slider} >= {"pe_length", "pe_width"}
    assert "pe_base" in {each.key for each in at.sidebar.select_slider}
    assert not [each.key for each in at.main.slider if each.key not in {side.key for side in at.sidebar.slider}]


def test_two_maps_show_which_places_are_alike_and_the_vectors_are_folded() -> None:
    at = open_step("learned-or-computed")
    assert "Place 0 is an exception" in words(at)
    assert "Place 0 is an exception" not in words(open_step("learned-or-computed", text="She opened the door."))
    most = lab.load_model(DEFAULT_MODEL).config.max_tokens
    at = unfold(at, "_places", "_waves")
    assert f"ends after {most} places" in words(at) and "Turn every pair of dimensions" in words(at)
