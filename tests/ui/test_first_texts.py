"""Whose sentence a page shows: each step opens on the course's, and the learner's is kept for the visit."""

from __future__ import annotations

import json

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import lab
from lab.course.sentences.looks import STORY_TEXT, as_read, look_head
from lab.models.catalogue import DEFAULT_MODEL
from lab.ui.parameters import DEFAULT_TEXT
from tests.pages.apptest import lesson_at, reveal, sentence_of, turn_to, visit, words

ATTENTION, HEADS, JOBS, SENTENCES, BLANK = (
    "3_Self-attention.py",
    "4_Multi-head_attention.py",
    "6_Head_specialization.py",
    "7_Inter-sentence_attention.py",
    "9_Masked_language_model.py",
)
OWN = "My own sentence stays."
STEPS = {ATTENTION: "map", HEADS: "all-heads", JOBS: "radar"}  # steps that read a head


def go_to(at: AppTest, page: str) -> AppTest:
    at.query_params.clear()  # as a browser does on the way to another page
    at.switch_page(f"pages/{page}").run()
    return at


def text(at: AppTest) -> str:
    return str(at.text_area(key="text").value)


def place(at: AppTest) -> tuple[int, int]:
    return int(at.selectbox(key="layer").value or 0), int(at.selectbox(key="head").value or 0)


def whose(at: AppTest) -> str:
    return str(at.segmented_control(key="_whose").value)


def choose(at: AppTest, whom: str) -> AppTest:
    return at.segmented_control(key="_whose").set_value(whom).run()


def test_a_lesson_begins_with_its_own_text_and_others_with_the_one_of_every_visit() -> None:
    at = visit(JOBS)
    assert text(at) == STORY_TEXT and whose(at) == "Course"
    for page in (SENTENCES, ATTENTION):
        at = go_to(at, page)
        turn_to(at, "map" if page == ATTENTION else "matrix", keep=False)
        assert text(at) == lesson_at(page).text
        assert "text" not in at.query_params
    assert text(go_to(at, JOBS)) == STORY_TEXT


def test_a_step_may_have_an_example_of_its_own() -> None:
    at = visit(JOBS, step="radar")
    at.session_state["token"] = 3
    turn_to(at, "grammar", keep=False)
    assert text(at) == "The keys to the cabinet [MASK] on the table." and whose(at) == "Course"
    assert at.session_state["token"] == 0  # the tokens are others
    turn_to(at, "radar", keep=False)
    assert text(at) == STORY_TEXT and whose(at) == "Course"


def test_the_first_text_typed_for_a_model_with_another_first_step_stays() -> None:
    """A model that reads from left to right begins lesson 9 with a step of its own."""
    at = visit(BLANK, model="lab-gpt2")
    at.text_area(key="text").set_value(OWN).run()
    assert whose(at) == "Yours" and text(at) == OWN


def test_a_text_of_the_learner_is_one_click_away_on_every_step() -> None:
    at = visit(ATTENTION, step="map")
    at.text_area(key="text").set_value(OWN).run()
    assert whose(at) == "Yours"
    turn_to(at, "scale", keep=False)
    assert (text(at), whose(at)) == (STORY_TEXT, "Course")
    assert (text(choose(at, "Yours")), whose(at)) == (OWN, "Yours")
    assert (text(choose(at, "Course")), whose(at)) == (STORY_TEXT, "Course")
    go_to(at, SENTENCES)
    assert whose(at) == "Course" and text(choose(at, "Yours")) == OWN


def test_what_is_hidden_and_chosen_in_one_sentence_stays_with_it() -> None:
    at = visit(BLANK, text="The cat sat on the mat because it was tired.", masked="3.11", place="3")
    assert at.session_state["masked"] == "3.11"
    turn_to(at, "from-vector-to-word", keep=False)
    assert at.session_state["masked"] == "" and whose(at) == "Course"
    choose(at, "Yours")
    assert (at.session_state["masked"], at.session_state["place"]) == ("3.11", 3)
    choose(at, "Course")
    assert at.session_state["masked"] == ""


def test_who_has_no_sentence_can_type_one_at_the_switch() -> None:
    at = choose(visit(ATTENTION, step="map"), "Yours")
    assert whose(at) == "Yours" and text(at) == STORY_TEXT
    at.text_input(key="_own_typed").set_value("   ").run()
    assert text(at) == STORY_TEXT
    at.text_input(key="_own_typed").set_value(OWN).run()
    assert (text(at), whose(at)) == (OWN, "Yours")
    assert not [each for each in at.text_input if each.key == "_own_typed"]
    assert whose(turn_to(at, "scale", keep=False)) == "Course"


@pytest.mark.parametrize("typed", ["The ___ sleeps.", "The _ sleeps.", "The ▢ sleeps."])
def test_a_blank_may_be_typed_as_in_the_questions(typed: str) -> None:
    at = visit(ATTENTION, step="map")
    at.text_area(key="text").set_value(typed).run()
    assert text(at) == "The [MASK] sleeps."
    at.text_area(key="text").set_value("A snake_case name, __init__").run()
    assert text(at) == "A snake_case name, __init__"


def test_what_a_step_offers_is_not_kept_as_the_learner_s() -> None:
    at = reveal(visit("1_Tokenization.py", step="tokens"))
    at.text_area(key="text").set_value(OWN).run()
    at.button(key="_try").click().run()
    assert text(at) != OWN
    turn_to(at, "special-tokens", keep=False)
    assert whose(at) == "Course" and text(choose(at, "Yours")) == OWN


def test_an_example_that_was_picked_is_a_choice_even_where_it_is_what_a_page_begins_with() -> None:
    at = visit(ATTENTION, step="map")
    at.selectbox(key="_example").set_value("A pronoun").run()
    assert (text(at), whose(at)) == (DEFAULT_TEXT, "Yours")
    assert "**An example**, because you have not typed" not in words(go_to(at, "55_Compare.py"))


def test_the_first_page_keeps_the_sentence_that_was_typed_elsewhere_and_does_not_read_it() -> None:
    at = visit(ATTENTION, step="map")
    at.text_area(key="text").set_value(OWN).run()
    go_to(at, "0_Course.py")
    assert not at.sidebar.text_area and not at.sidebar.text_input
    assert text(choose(go_to(at, JOBS), "Yours")) == OWN


def test_a_bench_opens_on_the_sentence_that_the_learner_had() -> None:
    at = visit(ATTENTION, step="map")
    at.text_area(key="text").set_value(OWN).run()
    assert text(go_to(at, "50_Head_view.py")) == OWN
    at = visit(ATTENTION, step="map")
    assert text(go_to(at, "50_Head_view.py")) == STORY_TEXT


@pytest.mark.parametrize("link", [{"text": OWN}, {"pair": OWN}])
def test_a_text_in_a_link_is_a_choice(link: dict[str, str]) -> None:
    at = visit(ATTENTION, step="map", **link)
    assert (whose(at), at.text_input(key="pair").value) == ("Yours", link.get("pair", ""))
    assert text(at) == link.get("text", STORY_TEXT)


def test_a_link_without_a_text_opens_on_the_course_s() -> None:
    at = visit(ATTENTION, step="map", layer="5", head="11", token="9")
    assert (text(at), whose(at), place(at)) == (STORY_TEXT, "Course", (5, 11))


@pytest.mark.parametrize(("model", "reads"), [("lab-bert", "▢"), ("lab-gpt2", "␣is")])
def test_another_model_reads_the_course_s_sentence_in_its_way(model: str, reads: str) -> None:
    at = visit(ATTENTION, step="map", model=model)
    labels = sentence_of(at)[0]["labels"]
    assert labels[6 if model == "lab-bert" else -1] == reads and "[" not in labels
    assert f"The course is about {DEFAULT_MODEL}." in words(at)
    at.button(key="_course_model").click().run()
    assert at.selectbox(key="model").value == DEFAULT_MODEL
    assert "The course is about" not in words(at)


@pytest.mark.parametrize("model", ["lab-minilm", "lab-bert", "lab-gpt2"])
def test_a_head_is_shown_that_shows_the_point_of_the_page(model: str) -> None:
    loaded = lab.load_model(model)
    soft = tuple(number + 1 for number in look_head(lab.trace(loaded, as_read(loaded, STORY_TEXT))))
    at = visit(ATTENTION, step="map", model=model)
    assert place(at) == soft and (soft == (6, 4) or model != DEFAULT_MODEL)
    assert place(go_to(at, HEADS)) == soft
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
    at, other = visit(page, step=STEPS[page]), "The old man the boat."
    assert in_address(at) == dict(zip(("layer", "head"), map(str, place(at)), strict=True))
    assert place(visit(page, step=STEPS[page], text=other, **in_address(at))) == place(at)


def test_a_head_that_the_lab_chose_is_its_own_in_a_copied_address_too() -> None:
    """Whoever opens it sees what its sender would, on the next page, too."""
    at = visit(ATTENTION, step="map")
    again = visit(ATTENTION, step="map", **in_address(at))
    assert place(again) == place(at)
    assert place(go_to(again, JOBS)) == place(go_to(at, JOBS))


def test_a_head_that_was_chosen_goes_along_and_another_lesson_of_the_course_begins_with_its_own() -> None:
    at = visit(ATTENTION, step="map")
    ours = place(at)
    at.selectbox(key="head").set_value(2).run()
    chosen = place(at)
    turn_to(at, "scale", keep=False)
    assert place(at) == place(go_to(at, "52_Neuron_view.py")) == chosen != ours
    turn_to(go_to(at, ATTENTION), "map", keep=False)
    assert place(at) == ours
    at.text_area(key="text").set_value(OWN).run()
    at.selectbox(key="head").set_value(2).run()
    own = place(at)
    assert place(go_to(at, HEADS)) == ours
    assert own != ours


def test_a_head_stays_with_another_sentence_and_gives_way_in_another_model() -> None:
    at = visit(ATTENTION, step="map")
    before, other = place(at), "The old man the boat."
    at.text_area(key="text").set_value(other).run()
    begins = tuple(number + 1 for number in look_head(lab.trace(lab.load_model(DEFAULT_MODEL), other)))
    assert place(at) == before != begins
    assert in_address(at) == dict(zip(("layer", "head"), map(str, before), strict=True))  # a link shows the same
    at.selectbox(key="model").set_value("lab-gpt2").run()
    assert place(at) == tuple(n + 1 for n in look_head(lab.trace(lab.load_model("lab-gpt2"), other)))


@pytest.mark.parametrize("link", [{"layer": "3"}, {"head": "2"}, {"layer": "3", "head": "2"}])
def test_a_head_in_a_link_is_a_choice(link: dict[str, str]) -> None:
    expected = int(link.get("layer", 6)), int(link.get("head", 4))
    at = visit(ATTENTION, step="map", **link)
    assert place(at) == expected
    assert place(go_to(at, "52_Neuron_view.py")) == expected or len(link) == 1


def test_a_chosen_place_that_a_toy_does_not_have_is_brought_inside() -> None:
    at = visit(ATTENTION, step="map")
    at.selectbox(key="layer").set_value(4).run()
    at.segmented_control(key="mode").set_value("Toy").run()
    assert place(at)[0] == 1 and place(at)[1] in (1, 2)
    assert "has 1 layers, so layer 4 became layer 1" in words(at)


def test_who_looks_elsewhere_in_the_course_s_sentence_is_told_and_led_back() -> None:
    at = visit(ATTENTION, step="map")
    assert not [each for each in at.button if each.key == "_course_head"]
    at.selectbox(key="head").set_value(2).run()
    assert "another head than the course" in words(at)
    at.button(key="_course_head").click().run()
    assert place(at) == (6, 4) and "another head" not in words(at)
    turn_to(at, "scale", keep=False)
    assert place(at) == (6, 4)


def test_a_toy_that_goes_along_to_the_next_lesson_gives_way_to_the_sentence() -> None:
    """The widgets of layer and head are on screen then, so that their address cannot be taken away."""
    at = visit("5_Attention_metrics.py")
    at.segmented_control(key="mode").set_value("Toy").run()
    turn_to(at.switch_page("pages/6_Head_specialization.py").run(), "radar")
    at.selectbox(key="head").set_value(2).run()
    at.segmented_control(key="mode").set_value("Sentence").run()
    assert at.title[0].value == "Head specialization"
