"""Technical words that explain themselves: where a page uses them first, and only in the lab's own prose."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pytest
import streamlit as st

from lab.course.glossary import GLOSSARY
from lab.course.pages import GLOSSARY_PAGE
from lab.ui import screen
from tests.pages.apptest import visit, without_marks, words


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "session_state", {})


def names(text: str) -> list[str]:
    return [unquote(each) for each in re.findall(r"Glossary\?look_up=(\S+) \"", text)]


@pytest.mark.usefixtures("session")
def test_a_term_is_marked_where_it_is_used_first_and_the_text_stays() -> None:
    text = "A query meets a key; another query meets **keys**. LayerNorm follows."
    marked = screen.marked(text)
    assert names(marked) == ["query", "key", "LayerNorm"] and without_marks(marked) == text
    assert names(screen.marked("A query and a score.")) == ["score"]
    assert screen.marked(text) == marked, "what is drawn again keeps its marks"
    screen.forget_marks()
    assert names(screen.marked("A query and a score.")) == ["query", "score"]


@pytest.mark.parametrize(
    "text",
    [
        "“query”", "`query`", "$query$", "[query](key)", ":material/key:", ":green[key]", "*key*", "<key>", "monkey",
        "“\u2068\\[CLS\\]\u2069”", "keyword",
    ],
)  # fmt: skip
@pytest.mark.usefixtures("session")
def test_what_is_no_prose_of_the_lab_stays_as_it_is(text: str) -> None:
    assert screen.marked(text) == text


@pytest.mark.parametrize("term", GLOSSARY, ids=lambda term: term.name)
@pytest.mark.usefixtures("session")
def test_every_term_gets_its_meaning_as_a_title(term: object) -> None:
    name = term.name  # type: ignore[attr-defined]
    marked = screen.marked(f"Here is {name}.")
    assert names(marked)[:1] == [name] and without_marks(marked) == f"Here is {name}."
    assert marked.count('"') == 2 and "*" not in marked


def test_the_links_lead_to_the_glossary() -> None:
    at = visit("3_Self-attention.py")
    link = next(each for part in at.markdown for each in re.findall(r"\((\S+look_up=\S+) ", part.value))
    page, _, name = link.partition("?look_up=")
    assert GLOSSARY_PAGE.endswith(f"_{page}.py")
    found = visit("21_Glossary.py", look_up=unquote(name))
    assert unquote(name) in words(found)


def test_a_class_sees_no_marks() -> None:
    assert not any("look_up=" in part.value for part in visit("3_Self-attention.py", teach="1").markdown)
