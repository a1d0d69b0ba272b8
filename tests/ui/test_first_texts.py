"""What a visit begins with: a lesson's own sentence and head as long as the learner has chosen none, and no longer."""

from __future__ import annotations

import json

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import lab
from lab.course.sentences.looks import look_head
from lab.models.catalogue import DEFAULT_MODEL
from lab.ui.parameters import DEFAULT_TEXT
from tests.pages.apptest import lesson_at, visit, words

ATTENTION, HEADS, JOBS, SENTENCES, BLANK = (
    "3_Self-attention.py",
    "4_Multi-head_attention.py",
    "6_Head_specialization.py",
    "7_Inter-sentence_attention.py",
    "9_Masked_language_model.py",
)
OWN = "My own sentence stays."


def go_to(at: AppTest, page: str) -> AppTest:
    at.query_params.clear()  # as a browser does on the way to another page
    at.switch_page(f"pages/{page}").run()
    assert not at.exception, at.exception[0].stack_trace
    return at


def text(at: AppTest) -> str:
    return str(at.text_area(key="text").value)


def place(at: AppTest) -> tuple[int, int]:
    return int(at.selectbox(key="layer").value or 0), int(at.selectbox(key="head").value or 0)


def test_a_lesson_begins_with_its_own_text_and_others_with_the_one_of_every_visit() -> None:
    at = visit(ATTENTION)
    assert text(at) == DEFAULT_TEXT
    for page in (SENTENCES, BLANK):
        assert text(go_to(at, page)) == lesson_at(page).text != DEFAULT_TEXT
        assert "text" not in at.query_params
    assert text(go_to(at, ATTENTION)) == DEFAULT_TEXT


def test_a_text_of_the_learner_goes_everywhere() -> None:
    at = visit(SENTENCES)
    at.text_area(key="text").set_value(OWN).run()
    for page in (ATTENTION, BLANK, SENTENCES):
        assert text(go_to(at, page)) == OWN


def test_an_example_that_was_picked_is_a_choice_even_where_it_is_what_a_page_begins_with() -> None:
    at = visit(ATTENTION)
    at.selectbox(key="_example").set_value("A pronoun").run()
    assert text(at) == DEFAULT_TEXT
    assert text(go_to(at, SENTENCES)) == DEFAULT_TEXT
    assert "**An example**, because you have not typed" not in words(go_to(at, "55_Compare.py"))


def test_the_first_page_keeps_the_sentence_that_was_typed_elsewhere_and_does_not_read_it() -> None:
    at = visit(ATTENTION)
    at.text_area(key="text").set_value(OWN).run()
    go_to(at, "0_Course.py")
    assert not at.sidebar.text_area and not at.sidebar.text_input
    assert text(go_to(at, BLANK)) == OWN
    again = go_to(visit(SENTENCES), "0_Course.py")
    assert text(go_to(again, ATTENTION)) == DEFAULT_TEXT


@pytest.mark.parametrize("link", [{"text": OWN}, {"pair": OWN}])
def test_a_text_in_a_link_is_a_choice(link: dict[str, str]) -> None:
    at = visit(ATTENTION, **link)
    go_to(at, BLANK)
    assert (text(at), at.text_input(key="pair").value) == (link.get("text", DEFAULT_TEXT), link.get("pair", ""))


@pytest.mark.parametrize("model", ["lab-minilm", "lab-bert", "lab-gpt2"])
def test_a_head_is_shown_that_shows_the_point_of_the_page(model: str) -> None:
    loaded = lab.load_model(model)
    soft = tuple(number + 1 for number in look_head(lab.trace(loaded, DEFAULT_TEXT)))
    at = visit(ATTENTION, model=model)
    assert place(at) == soft
    for page in (HEADS, JOBS):
        assert place(go_to(at, page)) == soft
    for page in ("51_Model_view.py", "52_Neuron_view.py", "54_Tensors.py"):
        assert place(go_to(at, page)) == soft
    assert go_to(at, "50_Head_view.py").selectbox(key="layer").value == soft[0]


def in_address(at: AppTest) -> dict[str, str]:
    """The layer and the head that the address of the page names in the browser."""
    (sent,) = [each for each in at.get("bidi_component") if each.key == "address"]
    named = {name: at.query_params[name] for name in ("layer", "head") if name in at.query_params}
    return json.loads(sent.proto.json)["shown"] | {name: np.ravel(value)[0] for name, value in named.items()}


@pytest.mark.parametrize("page", [ATTENTION, HEADS, JOBS])
def test_a_copied_address_shows_the_head_that_was_on_screen_whatever_its_sentence_becomes(page: str) -> None:
    """The lab would begin with another head in another sentence: the address says which one was meant."""
    at, other = visit(page), "The old man the boat."
    assert in_address(at) == dict(zip(("layer", "head"), map(str, place(at)), strict=True))
    assert place(visit(page, text=other, **in_address(at))) == place(at)


def test_a_head_that_the_lab_chose_is_its_own_in_a_copied_address_too() -> None:
    """Whoever opens it sees what its sender would, on the next page, too."""
    at = visit(ATTENTION)
    again = visit(ATTENTION, **in_address(at))
    assert place(again) == place(at)
    assert place(go_to(again, JOBS)) == place(go_to(at, JOBS))


def test_a_head_that_was_chosen_goes_everywhere() -> None:
    at = visit(ATTENTION)
    at.selectbox(key="head").set_value(2).run()
    chosen = place(at)
    for page in (JOBS, HEADS, "52_Neuron_view.py"):
        assert place(go_to(at, page)) == chosen


def test_a_head_stays_with_another_sentence_and_gives_way_in_another_model() -> None:
    at = visit(ATTENTION)
    before, other = place(at), "The old man the boat."
    at.text_area(key="text").set_value(other).run()
    begins = tuple(number + 1 for number in look_head(lab.trace(lab.load_model(DEFAULT_MODEL), other)))
    assert place(at) == before != begins
    assert in_address(at) == dict(zip(("layer", "head"), map(str, before), strict=True))  # a link shows the same
    at.selectbox(key="model").set_value("lab-gpt2").run()
    assert place(at) == tuple(n + 1 for n in look_head(lab.trace(lab.load_model("lab-gpt2"), other)))


@pytest.mark.parametrize("link", [{"layer": "3"}, {"head": "2"}, {"layer": "3", "head": "2"}])
def test_a_head_in_a_link_is_a_choice(link: dict[str, str]) -> None:
    soft = look_head(lab.trace(lab.load_model(DEFAULT_MODEL), DEFAULT_TEXT))
    expected = int(link.get("layer", soft[0] + 1)), int(link.get("head", soft[1] + 1))
    at = visit(ATTENTION, **link)
    assert place(at) == expected
    assert place(go_to(at, JOBS)) == expected or len(link) == 1


def test_a_chosen_place_that_a_toy_does_not_have_is_brought_inside() -> None:
    at = visit(ATTENTION)
    at.selectbox(key="layer").set_value(4).run()
    at.segmented_control(key="mode").set_value("Toy").run()
    assert not at.exception
    assert place(at)[0] == 1 and place(at)[1] in (1, 2)
    assert "has 1 layers, so layer 4 became layer 1" in words(at)
