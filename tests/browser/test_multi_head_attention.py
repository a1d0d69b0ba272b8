"""A learner on the multi-head page: clicks a small map, then a head on the map of the whole model."""

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


@at_night
def test_a_click_on_the_map_of_all_heads_chooses_layer_and_head(lab: Lab, page: Page) -> None:
    """By day test_metrics_and_sentences.py clicks on such a map."""
    open_step(lab, page, "/Multi-head_attention?step=All+heads&text=The+cat+sat.")
    click_cell(page, 2 * HEADS + 4)
    assert "layer=3" in page.url
    assert "head=5" in page.url
