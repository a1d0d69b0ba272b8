"""A sentence that is only tried leaves with its step; a tried place is the place in the new sentence."""

from __future__ import annotations

from tests.pages.apptest import looks, reveal, sentence_of, turn_to, visit
from tests.pages.test_ways import click, to
from tests.sentences import CAT

PAGE = "2_Embeddings.py"


def test_the_word_that_is_tried_is_chosen_wherever_the_learner_looked_before() -> None:
    """*france* is token 5, and *Monday* is token 5 in the sentence that is tried."""
    at = reveal(visit(PAGE, step="like-words"))
    at.session_state["token"] = 5
    at.run()
    at.button(key="_try").click().run()
    assert sentence_of(at)[0]["labels"][looks(at)[0]].lower() == "monday"
    at.button(key="_try_back").click().run()
    assert sentence_of(at)[0]["labels"][looks(at)[0]] == "france"


def test_a_sentence_that_was_tried_does_not_come_along_to_the_next_step_or_page() -> None:
    for leave in ("_next_step", "_next_page"):
        at = reveal(visit(PAGE, step="like-words", text=CAT))
        at.button(key="_try").click().run()
        assert "Monday" in (at.text_area(key="text").value or "")
        at = click(at, leave) if leave == "_next_step" else to(at, "pages/3_Self-attention.py")
        if leave == "_next_page":
            turn_to(at, "map")
        at.segmented_control(key="_whose").set_value("Yours").run()
        assert at.text_area(key="text").value == CAT
        assert not [button for button in at.button if button.key == "_try_back"]


def test_what_is_typed_after_a_try_is_the_learner_s_own_and_comes_along() -> None:
    at = reveal(visit(PAGE, step="like-words", text=CAT))
    at.button(key="_try").click().run()
    at.text_area(key="text").set_value("Birds fly south.").run()
    turn_to(at, "vectors").segmented_control(key="_whose").set_value("Yours").run()
    assert at.text_area(key="text").value == "Birds fly south."


def test_another_head_that_is_tried_keeps_the_word_of_the_question_and_comes_along() -> None:
    at = reveal(visit("3_Self-attention.py", step="map", text=CAT, layer="2", head="3"))
    before = looks(at)[0]
    at.button(key="_try").click().run()
    assert looks(at)[0] == before
    head = at.selectbox(key="head").value
    assert click(at, "_next_step").selectbox(key="head").value == head != 3


def test_a_sentence_that_was_tried_leaves_no_word_of_its_own_behind() -> None:
    at = visit(PAGE, step="vectors")
    at.button(key="_try").click().run()  # *the* is the token on screen
    click(at, "_next_step")
    at = reveal(at)
    assert sentence_of(at)[0]["labels"][looks(at)[0]] == "france"


def test_another_lesson_begins_with_its_own_head_whatever_was_chosen_before_a_check() -> None:
    at = visit("4_Multi-head_attention.py", step="find-the-head")
    at.button(key="_show_target").click().run()
    assert (at.selectbox(key="layer").value, at.selectbox(key="head").value) == (1, 3)
    at = click(click(at, "_next_step"), "_next_page")
    assert (at.selectbox(key="layer").value, at.selectbox(key="head").value) == (6, 4)
