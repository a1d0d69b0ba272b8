"""The settings of .streamlit/config.toml: Streamlit knows each of them, and the colours can be read."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

CONFIG = tomllib.loads((Path(__file__).parents[1] / ".streamlit/config.toml").read_text("utf-8"))
THEMES = ("light", "dark")
# Streamlit draws st.caption with so much of the colour of the text.
CAPTION = 0.6

# Machado, Oliveira & Fernandes 2009, severity 1.0, on linear RGB.
DEFICIENCIES = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
    "none": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
}
# Ottosson 2020: linear RGB -> cone responses -> OKLab.
TO_CONES = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
TO_OKLAB = [
    [0.2104542553, 0.793617785, -0.0040720468],
    [1.9779984951, -2.428592205, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.808675766],
]


def linear(colour: str) -> NDArray[np.float64]:
    encoded = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


def luminance(colour: str) -> float:
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    """WCAG 2.2: between 1 and 21."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def mixed(colour: str, ground: str, share: float) -> str:
    """The colour that ``share`` of one on top of the other gives."""
    pairs = ((int(colour[i : i + 2], 16), int(ground[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(share * above + (1 - share) * below):02x}" for above, below in pairs)


def seen(colour: str, deficiency: str) -> NDArray[np.float64]:
    """The colour in OKLab, as an eye with the deficiency sees it."""
    light = np.clip(np.array(DEFICIENCIES[deficiency]) @ linear(colour), 0, 1)
    return np.array(TO_OKLAB) @ np.cbrt(np.array(TO_CONES) @ light)


def options(table: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from options(value, f"{prefix}{key}.")
        else:
            yield prefix + key


def test_streamlit_knows_every_option() -> None:
    from streamlit.config import _config_options_template as known

    assert not [option for option in options(CONFIG) if option not in known]


@pytest.mark.parametrize("theme", THEMES)
def test_text_can_be_read_on_every_ground(theme: str) -> None:
    page = CONFIG["theme"][theme]
    for place in (page, {**page, **page["sidebar"]}):
        for ground in (place["backgroundColor"], place["secondaryBackgroundColor"]):
            assert contrast(place["textColor"], ground) >= 7
            assert contrast(mixed(place["textColor"], ground, CAPTION), ground) >= 4.5, "a caption"
            assert contrast(place["linkColor"], ground) >= 4.5
        assert contrast(place["primaryColor"], place["backgroundColor"]) >= 4.5
        assert contrast(place["primaryColor"], "#ffffff") >= 3
    assert contrast(page["codeTextColor"], page["codeBackgroundColor"]) >= 7


@pytest.mark.parametrize("theme", THEMES)
def test_sequential_palette_starts_at_the_page_and_moves_away_evenly(theme: str) -> None:
    page = CONFIG["theme"][theme]
    lightness = np.array([seen(colour, "none")[0] for colour in page["chartSequentialColors"]])
    steps = np.diff(lightness)
    assert len(lightness) == 10
    assert (steps > 0).all() or (steps < 0).all()
    assert abs(steps).max() < 1.5 * abs(steps).min()
    assert contrast(page["chartSequentialColors"][0], page["backgroundColor"]) < 1.25
    assert contrast(page["chartSequentialColors"][-1], page["backgroundColor"]) > 12


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_diverging_palette_has_two_sides_to_every_eye(theme: str, deficiency: str) -> None:
    colours = CONFIG["theme"][theme]["chartDivergingColors"]
    assert len(colours) == 10
    ground = luminance(CONFIG["theme"][theme]["backgroundColor"])
    away = [abs(luminance(colour) - ground) for colour in colours]
    assert away[:5] == sorted(away[:5], reverse=True)
    assert away[5:] == sorted(away[5:])
    for low, high in zip(colours[:3], colours[:-4:-1], strict=True):
        assert np.linalg.norm(seen(low, deficiency) - seen(high, deficiency)) > 0.08


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_categories_stand_out_and_apart(theme: str, deficiency: str) -> None:
    page = CONFIG["theme"][theme]
    colours = page["chartCategoricalColors"]
    assert all(contrast(colour, page["backgroundColor"]) >= 3 for colour in colours)
    for one, other in itertools.combinations(colours, 2):
        assert np.linalg.norm(seen(one, deficiency) - seen(other, deficiency)) > 0.08, (one, other)
