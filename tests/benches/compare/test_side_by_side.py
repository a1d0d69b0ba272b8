"""Two runs side by side: one scale, a difference that is B minus A, and none where cells have no partner."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import lab
from lab.analysis.heads.metrics import METRICS, attention_metrics
from lab.analysis.heads.named import trace_names
from lab.analysis.words.masking import hide
from lab.benches.compare import view
from lab.benches.compare.comparable import (
    ALL_HEADS,
    ATTENTION,
    COMPARABLE,
    EMBEDDINGS,
    HEAD_NAMES,
    METRIC,
    NEURONS,
    PREDICTIONS,
    SENTENCES,
    SPECIALIZATION,
    SUBLAYERS_ADD,
    At,
    NothingToShow,
    shown,
)
from lab.benches.compare.side_by_side import WordShares, apart, largest, why_not
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap
from lab.models.interventions import Interventions
from lab.models.trace import Trace, trace_encoding
from lab.models.twin import random_twin
from lab.toy.models import constructed_toy, random_toy
from lab.ui.parameters import COMPARED
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint
from tests.thorough import some

A, B = "The cat sat on the mat. It was tired.", "The dog sat on the mat. It was tired."
AT = At(1, 2, 3)
# Those whose numbers are coloured cells or bars, and so have a scale.
SCALED = [name for name in COMPARABLE if name != HEAD_NAMES]
RUNS = ("texts", "weights", "intervention")


@cache
def run(model: str, text: str, zero: bool = False) -> Trace:
    changes = Interventions(zero_heads=frozenset({(0, 2)})) if zero else Interventions()
    loaded = lab.load_model(model.removeprefix("random "))
    return lab.trace(random_twin(loaded, 3) if model.startswith("random ") else loaded, text, interventions=changes)


def pair(kind: str, model: str) -> tuple[Trace, Trace]:
    others = {
        "texts": lambda: run(model, B),
        "weights": lambda: run(f"random {model}", A),
        "intervention": lambda: run(model, A, zero=True),
    }
    return run(model, A), others[kind]()


def scales(figure: Figure) -> list[list[float]]:
    """The ends of every colour scale of numbers, or of the bars' axis."""
    found = []

    def look(node: Any) -> None:
        if isinstance(node, dict):
            if "sequence" in (node.get("data") or {}):
                return  # the bar of the legend, which has the colours of the cells
            for channel in ("color", "x"):
                encoding = node.get(channel)
                if isinstance(encoding, dict) and encoding.get("field") == "value":
                    domain = (encoding.get("scale") or {}).get("domain")
                    found.extend([domain] if domain else [])
            for child in node.values():
                look(child)
        elif isinstance(node, list):
            for child in node:
                look(child)

    look(figure.spec)
    return found


def sublayer_changes(traced: Trace) -> np.ndarray[Any, Any]:
    rows = []
    for at in map(traced.layer, range(traced.model.config.layers)):
        middle = at.attention_residual if at.attention_norm is None else at.attention_norm
        rows += [
            at.attention_output.norm(dim=-1) / at.input.norm(dim=-1),
            at.ffn_output.norm(dim=-1) / middle.norm(dim=-1),
        ]
    return np.stack([row.numpy() for row in rows])


def probabilities(traced: Trace) -> np.ndarray[Any, Any]:
    mask = traced.model.mask
    if mask is not None:
        traced = trace_encoding(traced.model, hide(traced.encoding, [3], mask), traced.interventions)
    return traced.logits(3).double().softmax(-1)[0].numpy()


def embeddings(traced: Trace) -> np.ndarray[Any, Any]:
    norm = traced.embeddings.norm
    return (traced.embeddings.sum if norm is None else norm).numpy()[:, :64]


def entropies(traced: Trace) -> np.ndarray[Any, Any]:
    heads = [traced.layer(i).attention.numpy() for i in range(traced.model.config.layers)]
    return np.stack([-(a * np.log(np.where(a > 0, a, 1))).sum(axis=(1, 2)) for a in heads])


# What the figures show, read off a trace without the lab's figures.
INDEPENDENT: dict[str, Callable[[Trace], np.ndarray[Any, Any]]] = {
    ATTENTION: lambda traced: traced.layer(1).attention[2].numpy(),
    ALL_HEADS: lambda traced: traced.layer(1).attention.numpy(),
    METRIC: entropies,
    EMBEDDINGS: embeddings,
    NEURONS: lambda traced: traced.layer(1).ffn_activation[3].numpy().reshape(-1, 64),
    SUBLAYERS_ADD: sublayer_changes,
    PREDICTIONS: probabilities,
}


# Sums and lengths in float32 here, in float64 there.
TOLERANCE = {METRIC: 2e-4, SUBLAYERS_ADD: 2e-5}


def independent(traced: Trace, name: str) -> np.ndarray[Any, Any]:
    return INDEPENDENT[name](traced)


@pytest.mark.parametrize("model", ["lab-bert", "lab-gpt2"])
@pytest.mark.parametrize("kind", RUNS)
@pytest.mark.parametrize("name", list(INDEPENDENT))
def test_the_difference_is_that_of_the_two_traces(name: str, kind: str, model: str) -> None:
    a, b = pair(kind, model)
    assert len(a) == len(b)
    wanted = independent(b, name) - independent(a, name)
    one, two = (shown(each, name, AT) for each in (a, b))
    np.testing.assert_allclose(apart(one, two), wanted, atol=TOLERANCE.get(name, 2e-6))
    most = largest(one, two)
    assert most.value == pytest.approx(np.abs(wanted).max(), abs=2e-4)
    # A head that is off changes nothing before layer 1.
    assert (most.value > 0) == ((name, kind) != (EMBEDDINGS, "intervention"))


@pytest.mark.parametrize("name", [ATTENTION, EMBEDDINGS, METRIC, SUBLAYERS_ADD])
def test_the_numbers_drawn_are_the_difference(name: str) -> None:
    a, b = pair("texts", "lab-bert")
    figure = view.difference(a, b, name, AT)
    np.testing.assert_allclose(
        figure.data["value"],
        (independent(b, name) - independent(a, name)).ravel(),
        atol=TOLERANCE.get(name, 2e-6),
    )
    ((low, high),) = scales(figure)
    assert low == -high and high == pytest.approx(figure.data["value"].abs().max())


@pytest.mark.parametrize("model", ["lab-bert", "lab-gpt2"])
@pytest.mark.parametrize("kind", RUNS)
@pytest.mark.parametrize("name", SCALED)
def test_both_figures_have_one_scale_that_holds_both(name: str, kind: str, model: str) -> None:
    a, b = pair(kind, model)
    first, second = view.figure_a(a, b, name, AT), view.figure_b(a, b, name, AT)
    one, two = scales(first), scales(second)
    assert one and one == two
    values = np.concatenate([first.data["value"], second.data["value"]])
    low, high = one[0]
    assert low <= values.min() + 1e-6 and high >= values.max() - 1e-6
    assert np.isclose(max(abs(low), abs(high)), np.abs(values).max(), atol=1e-6)  # and no more than both


@pytest.mark.parametrize("name", list(COMPARABLE))
def test_a_run_beside_itself_differs_nowhere(name: str) -> None:
    a = run("lab-bert", A)
    again = lab.trace(a.model, A)
    if name == HEAD_NAMES:
        assert not apart(shown(a, name, AT), shown(again, name, AT)).any()
    else:
        assert not view.difference(a, again, name, AT).data["value"].any()
    found = largest(shown(a, name, AT), shown(again, name, AT))
    assert found.value == found.mean == 0


def test_names_that_differ_are_marked() -> None:
    a, b = pair("weights", "lab-bert")
    names = [trace_names(each) for each in (a, b)]
    figure = view.difference(a, b, HEAD_NAMES, AT)
    assert (figure.data["category"].to_numpy() == 0).tolist() == (names[0] != names[1]).ravel().tolist()
    found = largest(shown(a, HEAD_NAMES, AT), shown(b, HEAD_NAMES, AT))
    assert found.mean * names[0].size == pytest.approx((names[0] != names[1]).sum())


@pytest.mark.parametrize("metric", [metric.id for metric in METRICS])
@pytest.mark.parametrize("corrected", [False, True])
def test_a_metric_is_that_of_its_heads(metric: str, corrected: bool) -> None:
    a, b = run("lab-bert", A), run("lab-gpt2", A)
    at = At(metric=metric, corrected=corrected)
    for traced in (a, b):
        own = attention_metrics(traced.layer(2).attention, causal=traced.model.config.causal).values(metric, corrected)
        found = shown(traced, METRIC, at)
        assert isinstance(found, Heatmap)
        np.testing.assert_allclose(found.values[2], own)
    assert len(a) != len(b) and why_not(shown(a, METRIC, at), shown(b, METRIC, at)) is None


def test_texts_of_other_lengths_have_no_cells_in_common() -> None:
    a, b = run("lab-bert", A), run("lab-bert", "It was tired.")
    for name in (ATTENTION, ALL_HEADS, EMBEDDINGS, SUBLAYERS_ADD):
        assert why_not(shown(a, name, AT), shown(b, name, AT)) == f"A has {len(a)} tokens, B has {len(b)}"
        with pytest.raises(ValueError, match="there is no difference"):
            view.difference(a, b, name, AT)
    assert why_not(shown(a, PREDICTIONS, AT), shown(b, PREDICTIONS, AT)) is None
    with pytest.raises(ValueError, match="residual stream"):
        view.streams(a, b)


def test_other_vocabularies_have_no_words_in_common() -> None:
    a, b = run("lab-bert", A), run("lab-gpt2", A)
    assert a.model.config.vocabulary == b.model.config.vocabulary
    assert why_not(shown(a, PREDICTIONS, AT), shown(b, PREDICTIONS, AT)) == "A and B have different vocabularies"
    assert len(view.figure_b(a, b, PREDICTIONS, AT).data) == 5


def test_words_probable_in_either_are_in_both_figures() -> None:
    a, b = pair("weights", "lab-bert")
    first, second = (make(a, b, PREDICTIONS, AT).table() for make in (view.figure_a, view.figure_b))
    assert first.index.tolist() == second.index.tolist() and 5 <= len(first) <= 10
    for traced in (a, b):
        top = traced.model.tokenizer.id_to_token(int(independent(traced, PREDICTIONS).argmax()))
        assert top in first.index


def test_long_texts_are_bounded() -> None:
    a, b = (lab.trace(run("lab-bert", A).model, f"{word} is here again. " * 160) for word in ("It", "He"))
    assert len(a) == len(b) == 512
    for name in some([*COMPARABLE], 3):
        for figure in (
            view.figure_a(a, b, name, At(1, 2, 300)),
            view.difference(a, b, name, At(1, 2, 300)),
        ):
            assert len(figure.data) <= 33_000
    table = view.figure_a(a, b, ATTENTION, At(1, 2, 300)).table()
    assert any(label.startswith("301 · ") for label in table.index)


def test_what_a_run_lacks_is_said() -> None:
    toy = lab.trace(constructed_toy(8, 8), "c a b b")
    with pytest.raises(NothingToShow, match="vocabulary head"):
        shown(toy, PREDICTIONS, AT)
    with pytest.raises(NothingToShow, match="single sentence"):
        shown(toy, SENTENCES, AT)
    with pytest.raises(NothingToShow, match="is not a word"):
        shown(run("lab-bert", A), PREDICTIONS, At(token=0))
    with pytest.raises(NothingToShow, match="single token"):
        shown(run("lab-gpt2", "a"), METRIC, At(corrected=True))


def test_toys_of_other_widths_compare_where_they_can() -> None:
    a, b = (lab.trace(toy, "c a b b") for toy in (constructed_toy(8, 8), random_toy(8, 8)))
    at = At(head=3)  # the constructed toy's last is its third
    difference = apart(shown(a, ATTENTION, at), shown(b, ATTENTION, at))
    np.testing.assert_allclose(difference, (b.layer(0).attention[3] - a.layer(0).attention[2]).numpy(), atol=1e-6)
    assert why_not(shown(a, METRIC, at), shown(b, METRIC, at)) == "A has 3 heads, B has 4"


def test_the_url_offers_what_there_is() -> None:
    assert tuple(COMPARABLE) == COMPARED


def test_specialization_of_one_pipeline_has_its_seven() -> None:
    found = shown(run("lab-bert", A), SPECIALIZATION, AT)
    assert isinstance(found, Heatmap)
    values = found.values
    assert values.shape[0] == 8 and 5 <= values.shape[1] <= 7
    assert np.isfinite(values).all()


@pytest.mark.parametrize("family", ["bert", "gpt2", "roberta"])
@pytest.mark.parametrize("longer", [1, 37, 600])
def test_one_vocabulary_in_tables_of_different_length(
    family: Family, longer: int, tiny_checkpoint: TinyCheckpoint, tmp_path: Path
) -> None:
    """As ``resize_token_embeddings`` leaves them: words of both are subtracted, the others are never said."""
    folder = tiny_checkpoint(family)
    module = transformers.AutoModelForMaskedLM if family != "gpt2" else transformers.AutoModelForCausalLM
    larger = module.from_pretrained(folder)
    torch.manual_seed(5)
    larger.resize_token_embeddings(larger.config.vocab_size + longer, mean_resizing=False)
    shutil.copytree(folder, tmp_path / "larger")
    larger.save_pretrained(tmp_path / "larger")
    one, other = (lab.trace(lab.load_model(each), A) for each in (folder, tmp_path / "larger"))
    a, b = (probabilities(each) for each in (one, other))
    assert len(b) == len(a) + longer
    for first, second, apart_by_hand in (
        (one, other, b - np.pad(a, (0, longer))),
        (other, one, np.pad(a, (0, longer)) - b),
    ):
        shares = [shown(each, PREDICTIONS, AT) for each in (first, second)]
        assert why_not(*shares) is None
        np.testing.assert_allclose(apart(*shares), apart_by_hand, atol=1e-9)
        found = largest(*shares)
        assert found.value == pytest.approx(np.abs(apart_by_hand).max())
        for figure in (view.figure_a, view.figure_b, view.difference):
            assert len(figure(first, second, PREDICTIONS, AT).table()) >= 5
        one_share, other_share = shares
        assert isinstance(one_share, WordShares) and isinstance(other_share, WordShares)
        said = view.said(one_share, other_share, (first, second))
        assert "expect" in said or "first word" in said


def test_other_kinds_of_token_are_not_subtracted() -> None:
    """Two texts may have equally many kinds of token, and not the same ones."""
    texts = (
        A,
        B,
        "It was tired and sad, too.",
        "The cat, the dog and the mouse",
        "Run!",
        "Run",
        "Paris is in France.",
        "a",
    )
    runs = [shown(run("lab-bert", text), SPECIALIZATION, AT) for text in texts]
    met = 0
    for one in runs:
        for other in runs:
            assert isinstance(one, Heatmap) and isinstance(other, Heatmap)
            alike = list(one.axes[1].names) == list(other.axes[1].names)
            assert (why_not(one, other) is None) == alike
            met += not alike and one.values.shape == other.values.shape
    assert met, "among these texts there are two with equally many kinds"
