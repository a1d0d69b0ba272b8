"""After a change of sentence the chosen word is found again if it is there."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

import lab
from lab.course.sentences.looks import look_in
from lab.models.catalogue import DEFAULT_MODEL
from lab.ui.chosen_tokens import found_again
from lab.ui.parameters import DEFAULT_TEXT
from tests.pages.apptest import looks, reveal, sentence_of, visit

BERT = ["[CLS]", "the", "sleep", "##y", "cat", "sat", ".", "[SEP]"]


@pytest.mark.parametrize(
    ("token", "tokens", "place", "found"),
    [
        ("cat", ["[CLS]", "a", "cat", "and", "a", "dog", "[SEP]"], 4, 2),
        ("the", ["[CLS]", "the", "cat", "saw", "the", "dog", "[SEP]"], 3, 4),
        ("the", ["[CLS]", "the", "cat", "the", "[SEP]"], 2, 1),  # as near: the first
        ("Ġcat", BERT, 2, 4),
        ("##y", BERT, 1, 3),
        ("[SEP]", BERT, 4, 7),
        ("[SEP]", ["The", "Ġcat", "."], 4, None),
        ("dog", BERT, 6, None),
    ],
)
def test_the_nearest_token_of_the_same_word(token: str, tokens: list[str], place: int, found: int | None) -> None:
    assert found_again(token, tokens, place) == found


def test_query_and_key_follow_their_words_into_another_sentence() -> None:
    at = reveal(visit("3_Self-attention.py", step="map", text="The cat sat on the mat.", token="3", key_token="7"))
    assert looks(at) == (2, 6)
    at.text_area(key="text").set_value("On the old red mat sat a big cat.").run()
    reveal(at)
    assert (shown(at), shown(at, 1)) == ("cat", "mat")
    assert (at.query_params["token"], at.query_params["key_token"]) == ("10", "6")


def shown(at: AppTest, which: int = 0) -> str:
    """The word that attends (0), or the one that it attends to (1)."""
    header, _ = sentence_of(at)
    return str(header["labels"][header[("chosen", "other")[which]]])


def retype(at: AppTest, text: str) -> AppTest:
    return reveal(at.text_area(key="text").set_value(text).run())


def test_a_query_that_the_lab_chose_stays_the_word_it_is() -> None:
    at = reveal(visit("3_Self-attention.py", step="map", text=DEFAULT_TEXT))
    assert (shown(at), at.query_params.get("token")) == ("he", None)
    retype(at, "Yesterday she gave her sister the book that he wanted so much.")
    assert shown(at) == "he"


@pytest.mark.parametrize("token", [{}, {"token": "3"}], ids=["the lab's", "chosen"])
def test_a_word_that_is_gone_gives_way_to_the_row_of_this_head_that_is_looked_at_first(token: dict[str, str]) -> None:
    text, at = "The dog that the children chased barked.", reveal(visit("3_Self-attention.py", step="map", **token))
    assert shown(at) == ("capital" if token else "▢")
    layer, head = (int(at.selectbox(key=name).value or 0) for name in ("layer", "head"))
    retype(at, text)
    assert (at.selectbox(key="layer").value, at.selectbox(key="head").value) == (layer, head)
    trace = lab.trace(lab.load_model(DEFAULT_MODEL), text)
    assert looks(at)[0] == look_in(trace, layer - 1, head - 1).query
    assert "token" not in at.query_params


def test_the_key_is_the_largest_weight_of_the_query_until_one_is_chosen() -> None:
    at = reveal(visit("3_Self-attention.py", step="map", text=DEFAULT_TEXT, layer="5", head="11", token="9"))
    row = lab.trace(lab.load_model(DEFAULT_MODEL), DEFAULT_TEXT).layer(4).attention[10, 8]
    assert looks(at)[1] == int(row.argmax())
    assert shown(at, 1) == "brother"


def test_a_link_says_which_token_it_means() -> None:
    at = visit("3_Self-attention.py", step="map", text="The cat sat on the mat.", token="6")
    assert looks(at)[0] == 5
