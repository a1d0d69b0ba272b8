"""Attention variants: each map is Hugging Face's weights, cut and scaled by hand; a notebook draws it again."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import pytest

import lab
from lab.analysis.heads.attention_variants import VARIANTS
from lab.figures import attention
from lab.figures.notebook import python_of
from lab.models.catalogue import EMBEDDED
from lab.models.trace import Trace
from lab.toy.models import constructed_toy
from tests.models.reference import load_theirs


@cache
def run(name: str) -> Trace:
    if name == "constructed toy":
        return lab.trace(constructed_toy(6, 8), "c a b b")
    return lab.trace(
        lab.load_model(name), "It's “the\u202e \\ cat”.\nالقط 🙂", 'She said: "yes".' if name == "lab-bert" else None
    )


@pytest.mark.parametrize("name", ["lab-bert", "lab-gpt2", "constructed toy"])
def test_every_variant_can_be_taken_home(name: str) -> None:
    traced = run(name)
    for kind in VARIANTS:
        found = attention.of_head(traced, 0, 1, kind)
        call = partial(attention.variant_map, traced, 0, 1, kind)
        setup, expression = python_of(call)
        space: dict[str, object] = {}
        exec(f"{setup}\nfigure = {expression}", space)
        table = space["figure"].table().to_numpy()  # type: ignore[attr-defined]
        np.testing.assert_allclose(table[found.exists], found.matrix[found.exists], atol=1e-7)
        assert np.isnan(table[~found.exists]).all()
        assert len(attention.labels(traced, kind)) == len(found.matrix)


def test_a_variant_of_all_heads_is_that_of_each() -> None:
    traced = run("lab-bert")
    for kind in VARIANTS:
        figure = attention.variant_of_all_heads(traced, 1, 2, kind)
        each = [attention.of_head(traced, 1, head, kind) for head in range(traced.model.config.heads)]
        drawn = figure.data["value"].to_numpy().reshape(len(each), *each[0].matrix.shape)
        np.testing.assert_allclose(drawn, [found.matrix for found in each], rtol=1e-6)
        assert f"Head 3: {each[2].removed.mean():.0%} removed" in figure.alt
        assert figure.spec["datasets"]["chosen_map"] == [{"map": 2}]


def test_the_figures_are_hugging_face_s_weights_cut_and_scaled() -> None:
    """With bertplus' definitions in four lines of NumPy; "unhappily" is one word of several tokens."""
    text, layer, head = "The cat slept unhappily.", 2, 5
    theirs = load_theirs(EMBEDDED / "lab-bert", "bert")
    raw = theirs.run(text).attentions[layer][head].numpy().astype(np.float64)
    nosep, removed = raw[1:-1, 1:-1], raw[1:-1, 0] + raw[1:-1, -1]  # [CLS] comes first, [SEP] last
    linscale = nosep / nosep.sum(axis=1, keepdims=True)
    pieces = [token.startswith("##") for token in lab.trace(lab.load_model("lab-bert"), text).tokens[1:-1]]
    first = np.flatnonzero(~np.array(pieces))
    assert len(first) == 5 < len(nosep)
    columns = np.add.reduceat(linscale, first, axis=1)
    rows = np.add.reduceat(columns, first, axis=0) / np.diff([*first, len(nosep)])[:, None]
    expected = {
        "raw": raw,
        "nosep": nosep,
        "linscale": linscale,
        "softmax_scale": np.exp(nosep) / np.exp(nosep).sum(axis=1, keepdims=True),
        "reduced": rows,
    }
    traced = lab.trace(lab.load_model("lab-bert"), text)
    for name in VARIANTS:
        drawn = attention.variant_map(traced, layer, head, name).table().to_numpy()
        np.testing.assert_allclose(drawn, expected[name], atol=2e-5)
    bars = attention.removed_mass(traced, layer, head, "nosep").data["value"].to_numpy()
    np.testing.assert_allclose(bars, removed, atol=2e-5)
