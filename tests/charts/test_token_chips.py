"""Token chips: the learner's text as safe HTML."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.charts.tokens.token_chips import token_chips
from tests.charts.samples import HOSTILE

_ALLOWED = {"style", "div", "span", "small", "bdi"}


class _Reader(HTMLParser):
    """Collects tags, attributes and the text outside the style sheet."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.classes: list[str] = []
        self.text: list[str] = []
        self._style = False
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.classes += [value or "" for name, value in attrs if name == "class"]
        self._style = tag == "style"

    def handle_endtag(self, tag: str) -> None:
        self._style = False

    def handle_data(self, data: str) -> None:
        if not self._style:
            self.text.append(data)


@pytest.mark.parametrize("text", HOSTILE)
def test_text_is_escaped(text: str) -> None:
    page = _Reader(token_chips([(text, (0,), text), ("", (1,), text), (text or " ", (), None)]))
    assert set(page.tags) <= _ALLOWED
    assert page.attributes <= {"class", "dir", "translate"}


@given(st.lists(st.tuples(st.text(max_size=5), st.just((0,)), st.none() | st.text(max_size=5)), max_size=5))
def test_no_text_makes_markup(chips: list[tuple[str, tuple[int, ...], str | None]]) -> None:
    page = _Reader(token_chips(chips))
    assert set(page.tags) <= _ALLOWED
    assert page.tags.count("span") == len(chips)


def test_positions_count_from_one_above_each_chip() -> None:
    page = _Reader(
        token_chips([("a", (0,), None), ("b", (4, 5, 6), None), ("c", (7, 8), None), ("d", (9, 11, 13), None)])
    )
    assert page.text == ["1", "a", "5–7", "b", "8, 9", "c", "10, 12, 14", "d"]


def test_the_vocabulary_name_stands_below_where_it_differs() -> None:
    page = _Reader(token_chips([("play", (0,), "play"), ("ing", (1,), "##ing")]))
    assert page.text == ["1", "play", "2", "ing", "##ing"]


def test_special_tokens_look_different() -> None:
    classes = _Reader(token_chips([("", (0,), "[CLS]"), ("a", (1,), "a")])).classes
    assert classes[1:] == ["token special", "token hue0"]


def test_neighbours_differ_in_colour_across_spaces() -> None:
    classes = _Reader(token_chips([("a", (0,), None), (" ", (), None), ("b", (1,), None)])).classes
    assert classes[1:] == ["token hue0", "gap", "token hue1"]


def test_groups_give_their_tokens_one_colour_special_ones_too() -> None:
    chips = [("", (0,), "[CLS]"), ("a", (1,), "a"), ("b", (2,), "b"), ("", (3,), "[SEP]")]
    shown = token_chips(chips, groups=[0, 0, 1, 1]).partition("</style>")[2]
    kinds = [part.partition('"')[0] for part in shown.split('class="token ')[1:]]
    assert kinds == ["hue0 special", "hue0", "hue1", "hue1 special"]


def test_control_characters_are_drawn_as_signs() -> None:
    page = token_chips([("\u202ea\x00\n", (0,), None), ("  \n", (), None)])
    assert "\u202e" not in page
    assert "\x00" not in page
    assert "".join(_Reader(page).text) == "1⟨202E⟩a⟨0000⟩\\n␣␣\\n"


@pytest.mark.parametrize(("text", "side"), [("שלום abc", "rtl"), ("abc שלום", "ltr"), ("123", "ltr"), ("", "ltr")])
def test_the_line_runs_in_the_direction_of_its_first_letter(text: str, side: str) -> None:
    assert f'<div class="tokens" translate="no" dir="{side}">' in token_chips([(text, (0,), None)])
