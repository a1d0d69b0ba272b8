"""The shell around a page: an error of the page stays on screen, whatever else fails after it."""

from __future__ import annotations

import pytest

from lab.ui import shell
from tests.pages.apptest import visit


def failing(kind: type[Exception]) -> None:
    raise kind


class OfThePage(Exception):
    """What a page raises."""


class OfTheShell(Exception):
    """What the shell raises after it."""


@pytest.mark.parametrize("page_fails", [True, False])
def test_the_error_of_the_page_is_told_and_not_a_later_one(page_fails: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def page() -> bool:
        if page_fails:
            raise OfThePage
        return False

    monkeypatch.setattr(shell, "waits", page)
    monkeypatch.setattr(shell, "keep_in_browser", lambda: failing(OfTheShell))
    with pytest.raises(AssertionError, match=r"^\S*OfThePage" if page_fails else r"^\S*OfTheShell"):
        visit()
