"""Fixtures of the browser tests.

``lab``            one server for the whole session (``tests/conftest.py``); ``lab.url``, ``lab.log``
``alone``          another, with charts that need no model (``gallery.py``)
``fresh_server``   ``fresh_server()`` starts another, never visited: for first visits by deep link
``view``           laptop, light; for the others parametrize("view", VIEWS, indirect=True, ids=str)
``visitor``        a page seen through ``view``; the test fails if the page complained
``page``           ``visitor.page``
``stage``          the page with one hand-written component and no server (``stage.py``)

    def test_layer_is_in_the_link(lab: Lab, page: Page) -> None:
        page.goto(lab.url + "/Self-attention?layer=2")
        wait_idle(page)
        expect(page.get_by_role("heading", level=1)).to_have_text("Self-attention")

A complaint that is expected is taken off the list: ``visitor.complaints.remove(...)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from benchmarks.server import HOME, Lab, running_lab
from tests.browser.harness import Returning, View, Visitor, chromium
from tests.browser.stage import Stage

# A test that must fail waits so long for what does not come; a busy machine takes its time.
expect.set_options(timeout=30_000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker("browser")


@pytest.fixture(scope="session")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with running_lab(Path(__file__).parent / "gallery.py", tmp_path_factory.mktemp("alone")) as running:
        yield running


@pytest.fixture
def fresh_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Lab]]:
    with ExitStack() as servers:

        def start(script: Path = HOME) -> Lab:
            return servers.enter_context(running_lab(script, tmp_path_factory.mktemp("server")))

        yield start


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="session")
def returning(browser: Browser) -> Returning:
    return Returning(browser)


@pytest.fixture
def view(request: pytest.FixtureRequest) -> View:
    wanted: View = getattr(request, "param", View())
    return wanted


@pytest.fixture
def visitor(returning: Returning, view: View) -> Iterator[Visitor]:
    with returning.visit(view) as visiting:
        yield visiting
        complaints = visiting.all_complaints()
    assert not complaints, "\n".join(complaints)


@pytest.fixture
def page(visitor: Visitor) -> Page:
    return visitor.page


@pytest.fixture
def stage(page: Page) -> Stage:
    return Stage(page)
