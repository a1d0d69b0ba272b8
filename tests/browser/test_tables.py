"""Neither a download of Streamlit's nor the clipboard takes the texts of a table into a spreadsheet."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from benchmarks.server import Lab
from tests.browser.harness import wait_idle

FORMULA = "=HYPERLINK(1) cats"


def test_a_table_is_taken_along_by_the_lab_s_own_file_alone(lab: Lab, page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=lab.url)
    page.goto(f"{lab.url}/Head_view?text={FORMULA}", timeout=90_000)
    wait_idle(page)
    page.get_by_role("button", name="Numbers and files").first.click()
    wait_idle(page)
    table = page.get_by_test_id("stDataFrame").first
    expect(table).to_be_visible()
    table.hover()
    expect(page.get_by_test_id("stElementToolbar").first).to_be_attached()
    expect(page.get_by_role("button", name="Download as CSV")).to_have_count(0)
    page.evaluate("navigator.clipboard.writeText('nothing')")
    box = table.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 60, box["y"] + 55)
    page.keyboard.press("Control+C")
    page.wait_for_timeout(500)
    assert page.evaluate("navigator.clipboard.readText()") == "nothing"
