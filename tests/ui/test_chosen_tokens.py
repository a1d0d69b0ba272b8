"""After a change of sentence the chosen word is found again if it is there."""

from __future__ import annotations

import pytest

from lab.ui.chosen_tokens import found_again
from tests.pages.apptest import reveal, visit

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
        ("[SEP]", ["The", "Ġcat", "."], 4, 1),
        ("dog", BERT, 6, 5),  # not there: the nearest word, no sign and no special token
        ("dog", BERT, 40, 5),
        ("dog", ["[CLS]", ".", "[SEP]"], 40, 2),
    ],
)
def test_the_nearest_token_of_the_same_text(token: str, tokens: list[str], place: int, found: int) -> None:
    assert found_again(token, tokens, place) == found


def test_query_and_key_follow_their_words_into_another_sentence() -> None:
    at = reveal(visit("3_Self-attention.py", text="The cat sat on the mat.", token="3", key_token="7"))
    assert (at.selectbox(key="_token").value, at.selectbox(key="_key_token").value) == (2, 6)
    at.text_area(key="text").set_value("On the old red mat sat a big cat.").run()
    reveal(at)
    chosen = [at.selectbox(key=f"_{name}") for name in ("token", "key_token")]
    assert [each.options[int(each.value or 0)].split(" · ")[1] for each in chosen] == ["cat", "mat"]
    assert (at.query_params["token"], at.query_params["key_token"]) == ("10", "6")


def test_a_link_says_which_token_it_means() -> None:
    at = visit("3_Self-attention.py", text="The cat sat on the mat.", token="6")
    assert at.selectbox(key="_token").value == 5
