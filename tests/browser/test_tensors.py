"""The bench of tensors in a browser: search, choose, download, and compare the file with the trace."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, expect

import lab as package
from benchmarks.server import Lab
from lab.models.catalogue import DEFAULT_MODEL
from tests.browser.harness import wait_idle
from tests.thorough import at_night

TEXT = "The sleepish cat sat on the mat."


def test_search_choose_download_and_compare(lab: Lab, page: Page, tmp_path: Path) -> None:
    page.goto(lab.url + "/Tensors?layer=2&head=3&text=The+sleepish+cat+sat+on+the+mat.")
    wait_idle(page)
    expect(page.get_by_role("textbox", name="Search")).to_be_visible(timeout=90_000)
    page.get_by_role("textbox", name="Search").fill("selfattn_key_hidden")
    page.keyboard.press("Enter")
    wait_idle(page)
    expect(page).to_have_url(re.compile("tensor=layer.key"))
    page.get_by_text("Show only a part").click()
    page.get_by_label(re.compile("^Rows")).fill("2-6")
    page.keyboard.press("Enter")
    wait_idle(page)
    expect(page.get_by_text(re.compile(r"key\[2, 1:6, :\]"))).to_be_visible()
    with page.expect_download() as started:
        page.get_by_role("button", name="Selection as .npy").click()
    file = tmp_path / started.value.suggested_filename
    started.value.save_as(file)
    assert file.suffix == ".npy"
    key = package.trace(package.load_model(DEFAULT_MODEL), TEXT).layer(1).key[2, 1:6].numpy()
    np.testing.assert_allclose(np.load(file), key, atol=1e-6)


@at_night
def test_a_variant_is_drawn_and_a_copied_link_names_it(lab: Lab, page: Page) -> None:
    """Streamlit writes what stands on a button: what a link says has to be that."""
    shown, charts = page.get_by_text("(linscale)."), page.get_by_test_id("stVegaLiteChart")
    page.goto(lab.url + "/Tensors?step=Attention+variants&text=%3Cimg+src%3Dx%3E+unhappily&variant=Rows+sum+to+1")
    wait_idle(page)
    expect(charts).to_have_count(3)
    expect(charts.first.locator("svg, canvas").first).to_be_visible()
    expect(page.get_by_text("Removed mass:")).to_be_visible()
    assert page.locator("img[src='x']").count() == 0
    expect(shown).to_be_visible()
    expect(page).to_have_url(re.compile("variant=Rows"))
    page.goto(page.url)  # in a new visit
    wait_idle(page)
    expect(shown).to_be_visible()
    expect(page.get_by_text("must be one of")).to_have_count(0)
