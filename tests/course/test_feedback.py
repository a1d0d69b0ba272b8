"""The operator's address for feedback: only a page or a mail, and the view is one value in it, whatever was typed."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab import ready
from lab.course.feedback import VARIABLE, WrongAddress, feedback_address, with_link

VIEW = "https://lab.example/Flow?text=a+%26+b%0A&layer=2#x"
RIGHT = (
    "https://forms.example/f?entry.12={link}&usp=pp_url",
    "https://forms.example/f?x=1#top",
    "https://forms.example",
    "mailto:lab@school.example",
    "mailto:lab@school.example?subject=Inside%20BERT",
)
WRONG = (
    "http://forms.example",
    "javascript:alert(1)",
    "JavaScript:alert(1)//https://a.example",
    "data:text/html,x",
    "https:///no-host",
    "https://[a",
    "mailto:nobody",
    "//forms.example",
    "forms.example",
    "https://a.example/\nx",
    'https://a.example/"x',
    "https://a.example/ x",
)


@pytest.mark.parametrize("address", RIGHT)
def test_a_page_or_a_mail_gets_the_view(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, f" {address} ")
    assert feedback_address() == address
    before, filled = urlsplit(address), urlsplit(with_link(address, VIEW))
    assert [filled[each] for each in (0, 1, 2, 4)] == [before[each] for each in (0, 1, 2, 4)]
    name = "entry.12" if "{link}" in address else "body" if before.scheme == "mailto" else "link"
    assert parse_qs(filled.query) == {**parse_qs(before.query), name: [VIEW]}
    assert with_link(address, "") == address.replace("{link}", "")


@pytest.mark.parametrize("address", WRONG)
def test_anything_else_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, address)
    with pytest.raises(WrongAddress, match=VARIABLE):
        feedback_address()
    assert [fault.sentence for fault in ready.faults() if fault.bearable and VARIABLE in fault.sentence]


def test_without_an_address_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert feedback_address() == ""
    monkeypatch.setenv(VARIABLE, "  ")
    assert feedback_address() == ""


@given(st.text(st.characters(codec="utf-8")))
def test_a_view_stays_one_value(view: str) -> None:
    for address in ("https://f.example/?a=1", "mailto:a@b.example", "https://f.example/{link}/x?a=1"):
        filled = with_link(address, view)
        assert set(parse_qs(urlsplit(filled).query)) <= {"a", "link", "body"}
        assert not set(filled) & set(" \n\r<>\"'") and len(filled) <= 2_000


def test_a_view_that_is_too_long_for_an_address_is_left_out() -> None:
    assert with_link("mailto:a@b.example", "https://lab.example/?text=" + "a" * 3_000) == "mailto:a@b.example"
