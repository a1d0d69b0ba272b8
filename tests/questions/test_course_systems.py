"""Questions in the formats of course systems: read back, they are the questions that were written, whatever was typed.

Moodle XML is read by the standard library, its HTML by the standard library's parser, GIFT by tests/questions/gift.py.
"""

from __future__ import annotations

from base64 import b64decode
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.course.words import quoted
from lab.questions.course_systems import Exercise, gift, moodle_xml
from lab.questions.question import Option, Question
from tests.questions.gift import read

HOSTILE = (
    "~ = # { } : \\ // -> %50% ####",
    "</script><script>alert(1)</script> ]]> <![CDATA[ & <b> &lt;",
    "مرحبا \u202e بالعالم",
    "👩‍👩‍👧 🙂",
    "[html]x [CLS] ::a:: \\n &&058;",
    "$CATEGORY: mine",
    "**bold** *and* `code` $x$",
    "\x00\x0b\ud800z",
    "one\n\n::new::q{=a ~b}",
)
LINK = 'https://lab.example/a?text=%3Cb%3E&layer=2"'
CATEGORY = "Inside BERT/Self-attention"


class Words(HTMLParser):
    """The words of an HTML text, and its tags."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.words, self.tags = "", list[str]()
        self.attributes: dict[str, str | None] = {}
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= dict(attrs)

    def handle_data(self, data: str) -> None:
        self.words += data


def about(sentence: str) -> Question:
    """A question about a sentence, with the right option second, and with emphasis of the lab's own."""
    token = quoted(sentence)
    options = (
        Option(token, f"No: **{token}** has 0.1 = 10 %.", place=1),
        Option("**W_O** makes {x: 1}", f"Yes, *so* {token}.", correct=True, place=0),
        Option(f"~{token}", "#", place=2),
    )
    return Question("asked", f"What does {token} say? 1 − x ~ {{2}}", options, mixed=True, hint=f"Look at {token}.")


def shown(sentence: str) -> str:
    """The sentence as it must be read again: in one line, with a sign for each character that XML cannot say."""
    kept = "".join(char if char.isprintable() or ord(char) > 0x9F else "\ufffd" for char in " ".join(sentence.split()))
    return "".join("\ufffd" if "\ud800" <= char <= "\udfff" or char in "\ufffe\uffff" else char for char in kept)


def isolated(sentence: str) -> str:
    return f"“\u2068{shown(sentence)}\u2069”"


@pytest.mark.parametrize("sentence", HOSTILE)
def test_moodle_reads_what_was_asked(sentence: str) -> None:
    asked = about(sentence)
    exercise = Exercise(asked, f"Asked about {quoted(sentence)}.", LINK, b"\x89PNG\x00", f"A map of “{sentence}”")
    quiz = ET.fromstring(moodle_xml([exercise, Exercise(asked, "")], CATEGORY).encode())
    category, first, second = quiz
    assert category.findtext("category/text") == f"$course$/top/{CATEGORY}"
    assert [each.get("type") for each in quiz] == ["category", "multichoice", "multichoice"]
    assert b64decode(first.findtext("questiontext/file") or "") == b"\x89PNG\x00"
    text = Words(first.findtext("questiontext/text") or "")
    assert text.tags == ["p", "p", "img", "p", "a"] and text.attributes["href"] == LINK
    assert text.attributes["src"] == "@@PLUGINFILE@@/figure.png" and shown(sentence) in text.words
    assert second.find("questiontext/file") is None and Words(second.findtext("questiontext/text") or "").tags == ["p"]
    assert [answer.get("fraction") for answer in first.findall("answer")] == ["0", "100", "0"]
    assert first.findtext("single") == "true" == first.findtext("shuffleanswers")
    for answer, option in zip(first.findall("answer"), ("{}", "W_O makes {{x: 1}}", "~{}"), strict=True):
        assert Words(answer.findtext("text") or "").words == option.format(isolated(sentence))
    why = Words(first.findall("answer")[0].findtext("feedback/text") or "")
    assert why.words == f"No: {isolated(sentence)} has 0.1 = 10 %." and why.tags == ["strong"]
    assert shown(sentence) in Words(first.findtext("hint/text") or "").words


@pytest.mark.parametrize("sentence", HOSTILE)
def test_gift_is_read_as_what_was_asked(sentence: str) -> None:
    asked = about(sentence)
    written = gift([Exercise(asked, "About it.", LINK, b"not in GIFT"), Exercise(asked, "")], CATEGORY)
    category, (first, second) = read(written.encode().decode())
    assert category == f"$course$/top/{CATEGORY}" and second.options == first.options
    text = Words(first.text)
    assert text.tags == ["p", "p", "a"] and text.attributes["href"] == LINK
    needed = "You need the figure for this question, and the lab draws it. About it."
    assert text.words == f"What does {isolated(sentence)} say? 1 − x ~ {{2}}{needed}"
    assert [mark for *_, mark in first.options] == [0, 100, 0]
    assert [Words(option).words for option, *_ in first.options] == [
        isolated(sentence),
        "W_O makes {x: 1}",
        f"~{isolated(sentence)}",
    ]
    assert [Words(why).words for _, why, _ in first.options][1:] == [f"Yes, so {isolated(sentence)}.", "#"]


@given(st.text(max_size=40))
def test_no_sentence_changes_the_number_of_questions_or_options(sentence: str) -> None:
    exercises = [Exercise(about(sentence), quoted(sentence), LINK)] * 2
    _, questions = read(gift(exercises, CATEGORY))
    assert [len(question.options) for question in questions] == [3, 3]
    quiz = ET.fromstring(moodle_xml(exercises, CATEGORY).encode())
    assert [len(question.findall("answer")) for question in quiz] == [0, 3, 3]


def test_options_in_an_order_keep_it() -> None:
    ordered = Question("order", "How much?", (Option("less", "w", correct=True), Option("more", "w")), hint="Count.")
    question = ET.fromstring(moodle_xml([Exercise(ordered, "")], CATEGORY))[1]
    assert question.findtext("shuffleanswers") == "false"
    assert question.find("hint") is None  # with two options, a hint after a wrong answer would give the right one
