"""Nothing that a learner types vanishes without a word: texts too long, a second blank, characters that are dropped."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from lab.front.first_minute import _TYPED
from lab.ui.parameter_kinds import TextParameter
from lab.ui.parameters import BLANK_TEXT, PARAMETERS
from tests.pages.apptest import reveal, visit, words
from tests.thorough import some

OWN = {"blank": "The dog likes to _ at night."}


def typed(at: AppTest, key: str, text: str) -> AppTest:
    field = next(each for each in (*at.text_input, *at.text_area) if each.key == key)
    field.set_value(text).run()
    return at


def opened(page: str | None, link: dict[str, str]) -> AppTest:
    return reveal(visit(page, **link))


FIELDS = [
    ("3_Self-attention.py", {"step": "map"}, "text", 4000),
    ("3_Self-attention.py", {"step": "map"}, "pair", 4000),
    ("3_Self-attention.py", {"mode": "Toy"}, "toy_own", 64),
    ("1_Tokenization.py", {"mode": "Toy", "step": "Use it"}, "toy_word", 40),
    ("55_Compare.py", {}, "other_text", 4000),
    ("21_Glossary.py", {}, "look_up", 60),
    (None, OWN, _TYPED, 400),
    (None, OWN, "_first_own", 30),
]


@pytest.mark.parametrize(("page", "link", "key", "longest"), some(FIELDS, 5))
def test_a_text_too_long_is_read_up_to_the_limit_and_this_is_said(
    page: str | None, link: dict[str, str], key: str, longest: int
) -> None:
    at = opened(page, link)
    assert f"first {longest:,}" not in words(at)
    text = ("abc " * 2000)[: longest + 7]
    typed(at, key, text)
    assert f"{longest + 7:,} characters" in words(at)
    assert f"first {longest:,}" in words(at)
    assert at.session_state[key] == text[:longest]
    typed(at, key, text[: longest - 1])
    assert f"first {longest:,}" not in words(at)


def test_every_field_lets_the_browser_send_a_long_text() -> None:
    """With a limit, Streamlit's browser part ignores a longer paste."""
    for page, link, key, _ in FIELDS:
        at = opened(page, link)
        (field,) = [each for each in (*at.text_input, *at.text_area) if each.key == key]
        assert field.proto.max_chars == 0


def test_a_link_too_long_is_cut_in_the_address_too() -> None:
    at = visit(None, blank="word " * 100 + "_")
    assert "left out" in words(at)
    assert len(at.session_state["blank"]) == BLANK_TEXT.longest


@pytest.mark.parametrize(("blanks", "said"), [("_", False), ("_ and _", True), ("____ and [MASK] and _", True)])
def test_more_than_one_blank_is_said(blanks: str, said: bool) -> None:
    at = visit(None, blank=f"My cat likes {blanks} in the sun.")
    assert ("asks about the first" in words(at)) == said


@pytest.mark.parametrize("page", [None, "3_Self-attention.py", "1_Tokenization.py", "9_Masked_language_model.py"])
def test_characters_that_the_tokenizer_drops_and_foreign_texts_are_said(page: str | None) -> None:
    name = "blank" if page is None else "text"
    said = words(visit(page, **{name: "The c\u200bat\u0007 sat on the _ today."}))
    assert "drops 2 characters" in said
    assert "learned from English" not in said
    assert "learned from English" in words(visit(page, **{name: "مرحبا بالعالم _"}))
    assert "drops" not in words(visit(page, **{name: "The cat sat on the _ today."}))


def test_no_text_parameter_has_a_limit_that_the_address_cannot_hold() -> None:
    assert all(each.longest <= 8000 for each in PARAMETERS if isinstance(each, TextParameter))
