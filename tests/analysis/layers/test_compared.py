"""The distance of two residual streams against numpy, place by place."""

from __future__ import annotations

import numpy as np
import pytest

import lab
from lab.analysis.layers.sublayers import apart, same_tokens, turned_round
from lab.models.interventions import Interventions
from lab.models.trace import Trace
from tests.conftest import TinyCheckpoint

TEXT = "the cat sat on the mat"


@pytest.fixture(scope="module", params=["bert", "gpt2"])
def plain(request: pytest.FixtureRequest, tiny_checkpoint: TinyCheckpoint) -> Trace:
    return lab.trace(lab.load_model(tiny_checkpoint(request.param)), TEXT)


def test_every_distance_and_cosine_is_that_of_its_two_vectors(plain: Trace) -> None:
    changed = lab.trace(plain.model, TEXT, interventions=Interventions(zero_heads=frozenset({(0, 1)})))
    found = apart(plain, changed)
    assert found.distance.shape == found.cosine.shape == (plain.model.config.layers + 1, len(plain))
    for layer in range(plain.model.config.layers + 1):
        for place in range(len(plain)):
            a, b = (each.hidden_states[layer, place].double().numpy() for each in (plain, changed))
            assert found.distance[layer, place] == pytest.approx(np.sqrt(((b - a) ** 2).sum() / (a**2).sum()))
            assert found.cosine[layer, place] == pytest.approx(float(a @ b) / np.sqrt((a @ a) * (b @ b)))
    assert not found.distance[0].any() and found.distance[-1].all()


def test_a_run_is_no_distance_from_itself(plain: Trace) -> None:
    found = apart(plain, lab.trace(plain.model, TEXT))
    assert not found.distance.any()
    np.testing.assert_allclose(found.cosine, 1)


def test_runs_of_other_shapes_have_no_distance(plain: Trace) -> None:
    longer = lab.trace(plain.model, f"{TEXT} mat")
    with pytest.raises(ValueError, match="residual stream is"):
        apart(plain, longer)
    with pytest.raises(ValueError, match=f"A has {len(plain)} tokens, B has {len(longer)}"):
        same_tokens(plain, longer)


def test_tokens_agree_where_they_are_the_same(plain: Trace) -> None:
    other = lab.trace(plain.model, "the mat sat on the cat")
    assert len(other) == len(plain)
    same = same_tokens(plain, other)
    assert same.tolist() == [one == two for one, two in zip(plain.tokens, other.tokens, strict=True)]
    assert 0 < same.sum() < len(plain)


@pytest.mark.parametrize(
    ("text", "pair", "expected"),
    [
        ("The cat sat.", "", ("sat cat The.", "")),
        ("Is it the [MASK] ?!", "", ("[MASK] the it Is?!", "")),
        ("cat", "", ("cat", "")),
        ("...", "", ("...", "")),
        ("One.", "Two.", ("Two.", "One.")),
        ("一 二。", " ", ("二 一。", "")),
    ],
)
def test_a_text_turned_round_has_the_same_words(text: str, pair: str, expected: tuple[str, str]) -> None:
    assert turned_round(text, pair) == expected
