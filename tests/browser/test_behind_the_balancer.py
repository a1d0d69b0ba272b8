"""Behind HAProxy with its headers a page draws its charts and components, and a page needs few requests."""

from __future__ import annotations

from playwright.sync_api import ConsoleMessage, Page, Request, expect

from benchmarks.balancer import proxied
from benchmarks.server import Lab
from tests.browser.harness import wait_idle
from tests.load.test_balancer import REQUESTS_OF_A_PAGE


def test_charts_and_components_are_drawn(lab: Lab, page: Page) -> None:
    wrong, asked = list[str](), list[str]()

    def said(message: ConsoleMessage) -> None:
        if message.type == "error":
            wrong.append(message.text)

    def sent(request: Request) -> None:
        if not request.url.startswith("data:"):
            asked.append(request.url)

    page.on("console", said)
    page.on("request", sent)
    with proxied([lab]) as door:
        page.goto(door.url + "/Head_view")
        wait_idle(page)
        assert 10 < len(asked) < REQUESTS_OF_A_PAGE
        expect(page.locator(".space canvas")).to_be_visible()
        page.goto(door.url + "/Embeddings?step=Word+%2B+segment+%2B+place")
        wait_idle(page)
        page.get_by_role("button", name="Show me", exact=True).click()  # the chart is the answer to the step's question
        wait_idle(page)
        expect(page.locator(".stVegaLiteChart :is(svg.marks, canvas)").first).to_be_visible()
        assert not [line for line in wrong if "Policy" in line or "MIME" in line]
