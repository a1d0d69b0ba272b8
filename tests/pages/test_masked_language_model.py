"""The masked-language-model lesson, run whole: every step, every kind of model, what links and texts can do to it."""

from __future__ import annotations

import re
from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

import lab
from lab.course.words import unmarked
from lab.figures.sentence_arcs import DRAWN
from lab.lessons.masked_language_model import from_vector_to_word, learns_of_france, logit_lens, view
from lab.models.catalogue import DEFAULT_MODEL
from lab.ui import runs
from tests.checkpoints import Family
from tests.pages.apptest import (
    Offer,
    click_token,
    components,
    looks,
    opened,
    reveal,
    row_of,
    sentence_of,
    titles,
    unfold,
    visit,
    walk,
    words,
    worked,
)
from tests.sentences import CAT

PAGE = "9_Masked_language_model.py"
# Steps that ask about one place.
MASKED = ("hide-words", "from-vector-to-word", "logit-lens", "check")
NEXT = ("next-token", "from-vector-to-word", "logit-lens", "learns-of-france", "writing-on", "check")


open_step = partial(opened, PAGE, text=CAT)


def blanks(at: AppTest) -> list[int]:
    """The hidden places, from 0, that the sentence shows."""
    header, _ = sentence_of(at)
    return [header["first"] + place for place, hidden in enumerate(header["hidden"]) if hidden]


def hidden_places(at: AppTest) -> str:
    return str(at.session_state["masked"])


def test_every_step_of_a_hidden_word_shows_the_blank() -> None:
    at = visit(PAGE, text=CAT)
    assert blanks(at) == [10], "the last whole word, before anybody chose"
    for step in walk(at, MASKED[:-1]):  # the check reads no sentence
        assert blanks(at) == [10] and looks(at) == (10, None), step


def test_clicking_words_hides_them_and_asks_about_the_new_one() -> None:
    at = visit(PAGE, text=CAT)
    click_token(at, 2)
    assert hidden_places(at) == "3.11" and blanks(at) == [2, 10]
    assert looks(at)[0] == 2 and "token 3" in words(at)
    click_token(at, 10)  # asks about the other one
    assert blanks(at) == [2, 10] and looks(at)[0] == 10
    click_token(click_token(at, 2), 2)  # asks about the first, and shows it
    assert blanks(at) == [10]
    assert "token 11" in words(at)
    click_token(at, 0)  # a special token cannot be hidden
    assert blanks(at) == [10] and looks(at)[0] == 10


def test_nothing_hidden_asks_for_a_word() -> None:
    for step in MASKED[:-1]:
        at = visit(PAGE, text=CAT, masked="none", step=step)
        assert "Hide a word" in words(at), step
        assert blanks(at) == [], step
    click_token(at, 4)
    assert hidden_places(at) == "5"


def test_a_link_restores_what_was_hidden_and_asked() -> None:
    at = open_step("hide-words", text=CAT, masked="3.9", place="9")
    assert blanks(at) == [2, 8]
    assert looks(at)[0] == 8
    assert "token 9" in words(at)


@pytest.mark.parametrize(
    ("masked", "kept"),
    [("99", [10]), ("1", [10]), ("3.99", [2]), ("0.-4.3", [2]), ("<b>", [10]), ("3.3.3", [2]), ("9" * 500, [10])],
)
def test_places_a_text_does_not_have_are_left_out_and_said(masked: str, kept: list[int]) -> None:
    at = visit(PAGE, text=CAT, masked=masked, place="77")
    assert blanks(at) == kept
    assert ("The link hides" in words(at)) == (masked != "3.3.3")


def test_a_changed_sentence_keeps_a_hidden_word_only_where_it_still_stands() -> None:
    at = visit(PAGE, text=CAT, masked="3.11")
    at.text_area(key="text").set_value("The cat sat on the mat because it was happy.").run()
    assert hidden_places(at) == "3"
    at.text_area(key="text").set_value("Sit.").run()
    assert blanks(at) == [1]
    assert "The link hides" not in words(at)


def test_a_typed_mask_counts_as_hidden() -> None:
    at = visit(PAGE, text="The king and the [MASK] lived in a castle.")
    assert blanks(at) == [5] and at.session_state["masked"] == ""
    assert looks(at)[0] == 5
    click_token(at, 5)  # what was typed stays
    assert blanks(at) == [5]


# Beside what every lesson must bear (test_matrix.py).
TEXTS = {
    "one token": "the",
    "lone mask": "[MASK]",
    "unknown": "🙂 🙂",
    "special": "[CLS] [SEP] [PAD]",
}


@pytest.mark.parametrize("name", TEXTS)
def test_any_text_keeps_every_step_alive(name: str) -> None:
    at = visit(PAGE, text=CAT)
    at.text_area(key="text").set_value(TEXTS[name]).run()
    for step in walk(at, MASKED):
        assert "<script" not in re.sub(r"\\.", "", words(at)), step


def test_a_long_text_is_a_window_around_the_place_that_is_asked() -> None:
    at = visit(PAGE, text="word " * 600)
    assert "cut" in words(at)
    header, _ = sentence_of(at)
    asked = looks(at)[0]
    assert len(header["labels"]) == DRAWN < header["count"] and header["first"] <= asked
    click_token(at, asked - 3)
    assert hidden_places(at) == f"{asked - 2}.{asked + 1}"
    assert looks(at)[0] == asked - 3


def test_the_rank_and_the_logit_are_those_of_the_hidden_word_and_of_the_candidate() -> None:
    model = lab.load_model(DEFAULT_MODEL)
    typed = lab.trace(model, CAT.replace("mat", "[MASK]"))
    probabilities = typed.logits(6)[0].double().softmax(0)
    mat = lab.trace(model, CAT).token_ids[6]
    rank = 1 + int((probabilities > probabilities[mat]).sum())
    at = open_step("hide-words", text=CAT, masked="7")
    assert f"it is number {rank:,} of" in words(at)
    at = open_step("from-vector-to-word", text=CAT, masked="7")
    third = int(probabilities.argsort(descending=True)[2])
    at.session_state["_candidate"] = third
    unfold(at, "_sum")
    assert f"{typed.logits(6)[0, third].item():.3f}" in at.latex[0].value
    assert "_softmax" in {each.key for each in components(at)}


def test_the_largest_logit_is_the_sum_of_the_product_and_the_bias_that_stand_beside_it() -> None:
    said = words(visit(PAGE, step="from-vector-to-word"))
    found = re.search(r"largest logit: \*\*(\S+)\*\*\. .*, (\S+), plus its bias, (\S+)\.", said)
    assert found is not None
    logit, product, bias = map(float, found.groups())
    assert logit == pytest.approx(product + bias, abs=0.0011)


def test_a_causal_model_predicts_the_next_token(offer: Offer) -> None:
    at = visit(PAGE, model=offer("gpt2"), text="The cat sat on", temperature="0.5")
    assert row_of(at) == list(NEXT)
    places = len(lab.trace(lab.load_model(runs.local_models()["tiny-gpt2"]), "The cat sat on"))
    for step in NEXT[:-1]:
        at = visit(PAGE, model="tiny-gpt2", text="The cat sat on", step=step)
        header, _ = sentence_of(at)
        assert looks(at)[0] == places - 1 and header["read"] == places, step
        click_token(at, 0)
        assert at.session_state["place"] == 1 and sentence_of(at)[0]["read"] == 1, step
        click_token(at, places - 1)


def test_the_sentence_shows_tokens_to_the_letter(offer: Offer) -> None:
    at = visit(PAGE, model=offer("gpt2"), text="*the*  <b>")
    assert sentence_of(at)[0]["labels"][0] == "*"
    assert "(empty)" not in words(at)


def test_a_causal_model_says_why_nothing_is_hidden(offer: Offer) -> None:
    assert "reads from left to right" in words(open_step("next-token", model=offer("gpt2")))


@pytest.mark.parametrize(("family", "why"), [("electra", "were replaced"), ("bert-headless", "vocabulary head")])
def test_a_model_without_a_head_says_why_and_what_instead(offer: Offer, family: Family, why: str) -> None:
    at = visit(PAGE, model=offer(family))
    assert why in words(at)
    assert f"Choose {DEFAULT_MODEL}" in words(at)


FINDINGS = {
    "hide-words": view.WRITTEN,
    "from-vector-to-word": from_vector_to_word.BET,
    "logit-lens": logit_lens.WRITTEN,
    "learns-of-france": learns_of_france.WRITTEN,
}


@pytest.mark.parametrize("step", FINDINGS)
def test_a_finding_is_said_of_the_course_s_sentence_only(step: str) -> None:
    finding = unmarked(FINDINGS[step].replace("*", ""))
    for params in ({}, {"text": CAT}, {"model": "lab-bert"}, {"masked": "5"}):
        at = reveal(visit(PAGE, step=step, **params))
        assert (finding in unmarked(words(at).replace("*", ""))) == (not params), params


SECOND = "second_text"


def test_a_second_sentence_moves_the_map_and_the_list_is_about_the_course_s() -> None:
    at = reveal(visit(PAGE, step="learns-of-france"))
    assert titles(at) == ["Probability of moscow with one vector exchanged"]
    assert [frame.value for frame in at.dataframe if "vector of" in frame.value]
    at.text_input(key=SECOND).set_value("The capital of Japan is _.").run()
    assert titles(at) == ["Probability of tokyo with one vector exchanged"]
    assert not [frame.value for frame in at.dataframe if "vector of" in frame.value]
    for typed, said in (
        ("The capital of Mauritania is _.", "9 tokens and the second 11"),
        ("<script>_", "Each vector takes the place"),
    ):
        at.text_input(key=SECOND).set_value(typed).run()
        assert said in at.info[0].value and not titles(at)


def test_a_pair_of_one_s_own_is_asked_for_and_a_long_one_does_not_hold_the_page_up() -> None:
    at = reveal(visit(PAGE, step="learns-of-france", text="The boys [MASK] playing."))
    assert "Type a second sentence" in at.info[0].value
    at.text_input(key=SECOND).set_value("The boy _ playing.").run()
    assert titles(at) == ["Probability of was with one vector exchanged"]
    more = "playing in the garden and singing in the house all day long"
    at = visit(PAGE, step="learns-of-france", text=f"The boys [MASK] {more}.", second_text=f"The boy _ {more}.")
    reveal(worked(reveal(at)))
    assert len(titles(at)) == 1 and "one vector exchanged" in titles(at)[0]


def test_the_challenge_is_kept_and_judged() -> None:
    at = visit(PAGE, step="check")
    at.text_input(key="_challenge.masked-language-model").set_value("My friend in France speaks only _.").run()
    assert any("they bring it all the same" in box.value for box in at.success)
    for params in ({"mode": "Toy"}, {"teach": "1"}):
        assert "**Challenge.**" not in words(visit(PAGE, step="check", **params))
