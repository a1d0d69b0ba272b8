"""The link for feedback, on the first page and at the foot of a lesson, with the view filled in."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1.element_tree import Element

from lab.course.feedback import VARIABLE
from lab.ui.frame import header
from tests.pages.apptest import visit
from tests.sentences import CAT

LESSON, FIRST, BENCH = "3_Self-attention.py", "0_Course.py", "53_Flow.py"
HERE = "https://lab.example/Self-attention"


@pytest.fixture(autouse=True)
def operator(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    header._address.cache_clear()
    monkeypatch.setattr(header, "absolute", lambda link: f"{HERE}?{'&'.join(link)}")
    yield monkeypatch
    header._address.cache_clear()


def links(page: str, **link: str) -> list[str]:
    found = visit(page, **link).get("link_button")
    return [
        each.proto.url for each in found if isinstance(each, Element) and each.proto.label == "Feedback on this page"
    ]


def test_a_learner_finds_it_with_the_view(operator: pytest.MonkeyPatch) -> None:
    operator.setenv(VARIABLE, "https://forms.example/f?a=1")
    for page in (FIRST, LESSON):
        (url,) = links(page, text=CAT, layer="2") if page == LESSON else links(page)
        values = parse_qs(urlsplit(url).query)
        assert url.startswith("https://forms.example/f?a=1&link=") and values["link"][0].startswith(HERE)
    assert {"text", "layer", "step"} <= set(values["link"][0].partition("?")[2].split("&"))
    assert links(LESSON, way="The idea, in 38 minutes") and links(BENCH) == []


def test_without_an_address_there_is_no_link(operator: pytest.MonkeyPatch) -> None:
    operator.delenv(VARIABLE, raising=False)
    assert links(FIRST) == links(LESSON) == []


def test_a_wrong_address_is_no_link_and_is_said_once(
    operator: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    operator.setenv(VARIABLE, "javascript:alert(1)")
    with caplog.at_level(logging.WARNING, "lab.feedback"):
        assert links(FIRST) == links(LESSON) == []
    assert [VARIABLE in record.getMessage() for record in caplog.records if record.name == "lab.feedback"] == [True]
