"""The address of a view, as others can open it: the one that the visit used, and nothing where none is known."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from lab.ui import address


@pytest.mark.parametrize(
    ("here", "link"),
    [
        ("https://lab.example/lab/Flow", "https://lab.example/lab/Flow?text=a+%26+b"),
        ("http://127.0.0.1:8501", "http://127.0.0.1:8501/?text=a+%26+b"),
        ("", ""),
        (None, ""),
    ],
)
def test_a_view_has_an_address(here: str | None, link: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address.st, "context", SimpleNamespace(url=here))
    assert address.absolute({"text": "a & b"}) == link
    assert address.absolute({}) == link.partition("?")[0]
