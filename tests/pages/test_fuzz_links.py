"""Anything in the link: a page, never an exception. In a file of its own, so that two workers share the cases."""

from __future__ import annotations

from hypothesis import given

from tests.pages.apptest import steps_of, visit
from tests.pages.hostile import links
from tests.pages.test_fuzz import LINKS, cases, every_page, stands


@every_page
def test_anything_in_the_link(page: str) -> None:
    @cases(LINKS)
    @given(links(steps_of(visit(page))))
    def holds(parameters: dict[str, str]) -> None:
        stands(visit(page, **parameters))

    holds()
