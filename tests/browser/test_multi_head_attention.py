"""A learner on the multi-head page clicks a small map."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from benchmarks.server import Lab
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.loading import load_model
from tests.browser.harness import PHONE
from tests.browser.test_metrics_and_sentences import click_cell, open_step
from tests.thorough import at_night

HEADS = load_model(DEFAULT_MODEL).config.heads


@at_night
@pytest.mark.parametrize("view", [PHONE], indirect=True, ids=str)
def test_a_click_on_a_small_map_chooses_its_head(lab: Lab, page: Page) -> None:
    open_step(lab, page, "/Multi-head_attention?step=Find+the+head&layer=2&head=3&text=The+cat+sat.")
    # A frame a head comes first, then the cells, map after map: [CLS] the cat sat . [SEP], 36 cells each.
    click_cell(page, HEADS + 6 * 36 + 3)
    expect(page).to_have_url(re.compile(r"[?&]head=7\b"))
