"""The model view's page: every model and text, toys, frames as measured, and what it sends beside the trace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import lab
from lab.analysis.heads.metrics import METRICS, trace_metrics
from lab.analysis.heads.named import trace_chance, trace_names
from lab.analysis.heads.patterns import PATTERNS, trace_patterns
from lab.benches.model_view import chosen_place
from lab.benches.model_view.view import head_numbers
from lab.evidence.notable import shipped, told
from lab.models.catalogue import DEFAULT_MODEL
from tests.checkpoints import Family
from tests.pages.apptest import Offer, sent, visit, words
from tests.pages.texts import LONG, TEXTS, WALKED
from tests.thorough import some

PAGE = "51_Model_view.py"


@pytest.mark.parametrize(("family", "weights"), [("bert", "Trained"), ("gpt2", "Trained"), ("bert", "Random")])
def test_every_text_arrives_as_traced(
    family: Family, weights: str, offer: Offer, tiny_folders: Callable[[Family], Path]
) -> None:
    at = visit(PAGE, model=offer(family), weights=weights, colour="Spread (entropy)", layer="2", head="3")
    loaded = lab.load_model(tiny_folders(family))
    for kind, (text, pair) in some([*WALKED.items()], 3):
        at.session_state["text"], at.session_state["pair"] = text, pair
        at.run()
        header, arrays = sent(at)
        assert not at.error, kind
        assert ("were cut" in words(at)) == (kind == LONG)
        assert header["opened"] == [1, 2]
        assert header["causal"] == (family == "gpt2")
        assert arrays["maps"].shape[:2] == arrays["values"].shape == (loaded.config.layers, loaded.config.heads)
        assert len(at.get("vega_lite_chart")) == 1
        if weights == "Random":
            assert "Random weights" in words(at)
            continue
        trace = lab.trace(loaded, text, pair or None)
        assert header["block"] == -(-len(trace) // 64)  # a thumbnail has no more cells a side
        np.testing.assert_allclose(arrays["values"], trace_metrics(trace).corrected["spread"], rtol=1e-6)


def test_frames_are_what_is_measured() -> None:
    trace = lab.trace(lab.load_model(DEFAULT_MODEL), *TEXTS["a pair"])
    every, found, chance, names = trace_metrics(trace), trace_patterns(trace), trace_chance(trace), trace_names(trace)
    at = visit(PAGE, text=TEXTS["a pair"][0], pair=TEXTS["a pair"][1])
    assert sent(at)[0]["frames"] is None
    for metric in METRICS[1:3]:  # one list has all of them: what is true of two is true of each
        for version in ("Raw", "Corrected"):
            at.session_state["colour"], at.session_state["version"] = metric.name, version
            header, arrays = sent(at.run())
            assert header["frames"]["name"].startswith(f"{metric.name}, {version.lower()}")
            np.testing.assert_allclose(arrays["values"], every.values(metric.id, version == "Corrected"), rtol=1e-6)
    for pattern in PATTERNS[:2]:
        at.session_state["colour"] = pattern.name
        header, arrays = sent(at.run())
        assert header["frames"] == {"name": pattern.name, "unit": "score"}
        np.testing.assert_allclose(arrays["values"], getattr(found, pattern.id), rtol=1e-6)
        place = PATTERNS.index(pattern)
        if not np.isnan(chance.uniform[place]):
            assert f"a uniform head scores {chance.uniform[place]:.3f}" in words(at)
            named = np.count_nonzero(names == pattern.id)
            assert f"{chance.untrained[place]:.3f}. {named} of {names.size} heads" in words(at)


def test_what_a_text_has_no_case_of_has_no_value() -> None:
    _, arrays = sent(visit(PAGE, model="lab-gpt2", colour="Next token"))
    assert np.isnan(arrays["values"]).all()


def test_the_table_has_every_head() -> None:
    trace = lab.trace(lab.load_model("lab-gpt2"), TEXTS["a pair"][0])
    table = head_numbers(trace, corrected=True)
    assert table[["layer", "head"]].to_numpy().tolist() == [[i + 1, j + 1] for i in range(4) for j in range(8)]
    np.testing.assert_array_equal(
        table["Spread (entropy), corrected"], trace_metrics(trace).corrected["spread"].ravel()
    )
    np.testing.assert_array_equal(table["Delimiter"], trace_patterns(trace).delimiter.ravel())
    assert table["named"].tolist() == trace_names(trace).ravel().tolist()


@pytest.mark.parametrize("weights", ["Constructed", "Random", "Trained live"])
def test_toys(weights: str) -> None:
    at = visit(PAGE, mode="Toy", toy_weights=weights, colour="Previous token")
    _, arrays = sent(at)
    if weights == "Constructed":
        assert arrays["values"].argmax() == 0
        assert arrays["values"][0, 0] > 0.99


def test_the_link_says_what_is_open_and_what_colours() -> None:
    heads = lab.load_model(DEFAULT_MODEL).config.heads
    at = visit(PAGE, layer="3", head=str(heads + 1), colour="Heat")
    assert sent(at)[0]["opened"] == [2, heads - 1]
    said = words(at).replace("\\", "")
    assert "colour must be one of " in said
    assert f"heads run from 1 to {heads}" in said
    at.selectbox(key="layer").set_value(1).run()
    first = sent(at)[0]
    assert first["opened"] == [0, heads - 1]
    # What is not changed is not told again.
    assert sent(at.run())[0]["told"] == first["told"]


@pytest.mark.parametrize(
    ("reported", "place"),
    [
        ("2.3.5.1.1760000000000", (1, 2, 4, 0)),
        ("4.8.9.9.1", (3, 7, 8, 8)),
        ("5.1.1.1.1", None),
        ("1.9.1.1.1", None),
        ("1.1.10.1.1", None),
        ("1.1.1.0.1", None),
        ("1.1.1", None),
        ("", None),
        ("a.b.c.d", None),
    ],
)
def test_what_the_browser_says_is_checked(reported: str, place: tuple[int, ...] | None) -> None:
    assert chosen_place(reported, 4, 8, 9) == place


@pytest.mark.parametrize("weights", ["Trained", "Random"])
def test_heads_with_a_job_are_marked(weights: str) -> None:
    model = lab.load_model(DEFAULT_MODEL)
    header, _ = sent(visit(PAGE, weights=weights))
    jobs = told(shipped(model)) if weights == "Trained" else {}
    assert header["jobs"] == {str(model.config.heads * layer + head): does for (layer, head), does in jobs.items()}
