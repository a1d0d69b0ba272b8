"""Attention variants: the notebook of every map gives the map, and all heads are each of the heads."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import pytest

import lab
from lab.analysis.heads.variants import VARIANTS
from lab.benches.tensors import variants
from lab.figures.notebook import python_of
from lab.models.trace import Trace
from lab.toy.models import constructed_toy


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
        found = variants.of_head(traced, 0, 1, kind)
        call = partial(variants.variant_map, traced, 0, 1, kind)
        setup, expression = python_of(call)
        space: dict[str, object] = {}
        exec(f"{setup}\nfigure = {expression}", space)
        table = space["figure"].table().to_numpy()  # type: ignore[attr-defined]
        np.testing.assert_allclose(table[found.exists], found.matrix[found.exists], atol=1e-7)
        assert np.isnan(table[~found.exists]).all()
        assert len(variants.labels(traced, kind)) == len(found.matrix)


def test_a_variant_of_all_heads_is_that_of_each() -> None:
    traced = run("lab-bert")
    for kind in VARIANTS:
        figure = variants.variant_of_all_heads(traced, 1, 2, kind)
        each = [variants.of_head(traced, 1, head, kind) for head in range(traced.model.config.heads)]
        drawn = figure.data["value"].to_numpy().reshape(len(each), *each[0].matrix.shape)
        np.testing.assert_allclose(drawn, [found.matrix for found in each], rtol=1e-6)
        assert f"Head 3: {each[2].removed.mean():.0%} removed" in figure.alt
        assert figure.spec["datasets"]["chosen_map"] == [{"map": 2}]
