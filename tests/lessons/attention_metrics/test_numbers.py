"""The metrics beside each other: rank correlations by hand, cards that end in the value, means by Hugging Face."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import torch
from hypothesis import given
from transformers import BertModel

import lab
from lab.analysis.heads.formulas import tex
from lab.analysis.heads.metrics import METRICS, attention_metrics, one_head, trace_metrics
from lab.course.sentences.looks import STORY_TEXT
from lab.lessons.attention_metrics import numbers
from lab.models.catalogue import EMBEDDED
from lab.models.trace import Trace
from lab.questions.asking import Spot
from tests.analysis.matrices import Case, cases
from tests.lessons.attention_metrics.conftest import Told
from tests.sentences import STORY

SPOT = Spot(lab.trace(lab.load_model("lab-minilm"), STORY_TEXT), 5, 3, 6, 4)


def spearman(one: np.ndarray, two: np.ndarray) -> float:
    """The correlation of the ranks; equal values share the mean of their ranks."""

    def ranks(values: np.ndarray) -> np.ndarray:
        flat = values.ravel()
        return (flat[:, None] > flat).sum(1) + ((flat[:, None] == flat).sum(1) - 1) / 2

    return float(np.corrcoef(ranks(one), ranks(two))[0, 1])


def test_a_head_is_between_the_places_that_are_told(trace: Trace) -> None:
    every = trace_metrics(trace)
    for head in ((0, 0), (2, 3)):
        for corrected in (False, True):
            values = [every.values(metric.id, corrected) for metric in METRICS]
            places = [1 + sum(each < values[at][head] for each in values[at].ravel()) for at in range(len(METRICS))]
            told = numbers.reading(every, head, corrected)
            assert f"between places {min(places)} and {max(places)} of the {every.removed.size} heads" in told


def test_what_is_written_of_the_six_numbers(told: Told) -> None:
    """The six formulas once more, over the maps of Hugging Face."""
    maps, n = told.maps, len(told.tokens)
    entropy = -torch.special.xlogy(torch.tensor(maps), torch.tensor(maps)).sum(-1).numpy()
    cells = maps.reshape(*maps.shape[:2], -1)
    values = {
        "maximum": cells.max(-1), "average": maps.max(-1).mean(-1), "spread": entropy.sum(-1),
        "sparsity": (cells < 0.01).mean(-1), "median": np.median(cells, -1), "deviation": cells.std(-1),
    }  # fmt: skip
    places = [1 + int((each < each[5, 3]).sum()) for each in values.values()]
    assert (min(places), max(places)) == (24, 52)
    every = trace_metrics(lab.trace(lab.load_model("lab-minilm"), STORY_TEXT))
    for corrected, few in ((False, 0.01), (True, 1 / n * (1 - 1e-5))):  # the others keep the order of the heads
        values["sparsity"] = (cells < few).mean(-1)
        pairs = np.abs([[spearman(one, other) for other in values.values()] for one in values.values()])
        five = pairs[1:, 1:][np.triu_indices(5, 1)]
        ranges = [float(each) for each in re.findall(r"0\.\d\d", numbers.story(every, corrected))]
        assert ranges == pytest.approx([five.min(), pairs[0, 1:].max()], abs=0.006)
        assert five.min() > 0.75 and pairs[0, 1:].max() < 0.6


def test_the_right_answers(told: Told) -> None:
    keys = np.exp(-torch.special.xlogy(torch.tensor(told.maps), torch.tensor(told.maps)).sum(-1).numpy())
    blank = told.tokens.index("[MASK]")
    assert 1 + int((keys[:, :, blank] < keys[5, 3, blank]).sum()) == 3
    assert 1 + int((keys.mean(-1) < keys[5, 3].mean()).sum()) == 31
    assert np.delete(keys[5, 3], blank).min() == pytest.approx(2.6, abs=0.05)
    assert np.delete(keys[5, 3], blank).max() == pytest.approx(6.1, abs=0.05)
    largest = told.maps[5, 3].max(-1)
    assert (largest.max(), largest.mean()) == pytest.approx((0.96, 0.50), abs=0.006)
    assert pytest.approx(0.55, abs=0.005) == (5 * 0.9 + 4 / 9) / 9 and (largest >= 0.9).sum() <= 4
    assert (math.log(9), math.log(18)) == pytest.approx((2.20, 2.89), abs=0.005)


@given(cases())
def test_cards_end_in_the_value(case: Case) -> None:
    attention, causal = case
    found = attention_metrics(attention[:1], causal=causal, threshold=0.05)
    cells = one_head(attention[0], causal=causal, threshold=0.05)
    for metric in METRICS:
        for corrected in (False, True):
            value = float(found.values(metric.id, corrected)[0])
            if math.isnan(value):
                with pytest.raises(ValueError, match="no row has more than one key"):
                    metric.fill(cells, corrected)
                continue
            shown = metric.fill(cells, corrected).removesuffix(r" \end{aligned}").split("= ")[-1]
            number = float(re.sub(r" \\cdot 10\^\{(-\d+)\}", r"e\1", shown))
            assert number == pytest.approx(value, abs=6e-4), (metric.id, corrected)


def test_small_numbers_are_powers_of_ten() -> None:
    shown = [tex(value) for value in (-0.0, 0.25, 0.00042, 12.3456)]
    assert shown == ["0.000", "0.250", r"4.2 \cdot 10^{-4}", "12.346"]


def test_mean_and_deviation_of_the_entropy_are_those_of_all_heads() -> None:
    trace = lab.trace(lab.load_model("lab-bert"), "She gave her brother the book.")
    model = BertModel.from_pretrained(EMBEDDED / "lab-bert", attn_implementation="eager").eval()
    with torch.inference_mode():
        out = model(torch.tensor([trace.token_ids]), output_attentions=True)
    weights = torch.cat(out.attentions).double()
    entropy = -torch.special.xlogy(weights, weights).sum(dim=(-2, -1))
    table = numbers.summary(trace, (1, 2), corrected=False, tau=0.01)
    row = table.set_index("metric").loc["Spread (entropy)"]
    assert row["mean"] == pytest.approx(float(entropy.mean()), abs=1e-4)
    assert row["standard deviation"] == pytest.approx(float(entropy.std(correction=0)), abs=1e-4)
    assert row["layer 2, head 3"] == pytest.approx(float(entropy[1, 2]), abs=1e-4)


def test_a_sure_head_often_rests_on_special_tokens() -> None:
    """The card of the spread says so: in the lab's sentence, the surest head of each layer from the second on does."""
    trace = lab.trace(lab.load_model("lab-minilm"), STORY)
    special = np.array(trace.encoding.special)
    for layer in range(1, trace.model.config.layers):
        maps = trace.layer(layer).attention.double().numpy()
        surest = int((-(maps * np.log(maps)).sum(-1).mean(-1)).argmin())
        assert maps[surest][:, special].sum(-1).mean() > 0.5
