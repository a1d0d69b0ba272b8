"""The metrics beside each other: rank correlations by hand, cards that end in the value, means by Hugging Face."""

from __future__ import annotations

import math
import re
from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given
from transformers import BertModel

import lab
from lab.analysis.heads.formulas import tex
from lab.analysis.heads.metrics import METRICS, attention_metrics, one_head, trace_metrics
from lab.lessons.attention_metrics import numbers
from lab.models.catalogue import EMBEDDED
from lab.models.trace import Trace
from lab.questions.returning import Spot
from lab.toy.models import random_toy
from tests.analysis.matrices import Case, cases
from tests.sentences import STORY


def spearman(one: np.ndarray, two: np.ndarray) -> float:
    """The correlation of the ranks; equal values share the mean of their ranks."""

    def ranks(values: np.ndarray) -> np.ndarray:
        flat = values.ravel()
        return (flat[:, None] > flat).sum(1) + ((flat[:, None] == flat).sum(1) - 1) / 2

    return float(np.corrcoef(ranks(one), ranks(two))[0, 1])


def test_the_pairs_of_metrics_with_nearly_one_order_are_counted(trace: Trace) -> None:
    every = trace_metrics(trace)
    values = [every.corrected[metric.id] for metric in METRICS]
    if any(np.ptp(each) == 0 for each in values):
        assert "sort nothing" in numbers.said(every)
        return
    pairs = np.abs([[spearman(one, other) for other in values] for one in values])
    told = numbers.said(every)
    close = int((pairs[np.triu_indices(6, 1)] >= 0.8).sum())
    assert f"Of 15 pairs of metrics, {close} put" in told


@pytest.mark.parametrize("heads", [2, 4])
def test_few_heads_are_not_compared(heads: int) -> None:
    """Of 24 orders of four heads, 8 have a rank correlation of 0.8 or more with the first, or its reverse."""
    orders = list(permutations(range(4)))
    assert sum(abs(np.corrcoef(order, range(4))[0, 1]) >= 0.8 - 1e-9 for order in orders) == 8
    trace = lab.trace(random_toy(6, 8, heads=heads), "a b c c a b")
    assert numbers.said(trace_metrics(trace)).startswith(f"{heads} heads are too few to compare")


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


def test_a_head_stands_out_where_it_is_told_to(trace: Trace) -> None:
    every = trace_metrics(trace)
    for head in ((0, 0), (2, 3), (3, 7)):
        told = numbers.stands_out(every, head)
        ends: dict[str, list[int]] = {}  # equal values share the better place
        for metric in METRICS:
            values = every.raw[metric.id]
            if np.ptp(values) == 0:
                continue
            ends[metric.name] = [1 + int((values < values[head]).sum()), 1 + int((values > values[head]).sum())]
        best = min(min(each) for each in ends.values())
        nearest = {name for name, each in ends.items() if min(each) == best}
        assert {metric.name for metric in METRICS if metric.name in told} == nearest
        assert (f"number {best} from" in told) == (best > 1)
        for name in nearest:
            side = told.partition(name)[0]
            lowest = side.rfind("lowest") > side.rfind("highest")
            assert ends[name][0 if lowest else 1] == best


def test_the_clearest_favourites_and_the_maximum_are_those_of_the_maps(trace: Trace) -> None:
    for layer in range(trace.model.config.layers):
        maps = trace.layer(layer).attention.double().numpy()
        mean = maps.max(-1).mean(-1)
        asked = numbers.most_confident(Spot(trace, layer, 0, 0, 0))
        second, first = np.sort(mean)[-2:]
        if asked is not None:
            assert asked.options[asked.answer].text == f"Head {mean.argmax() + 1}" and first - second >= 0.0499
        for head in range(trace.model.config.heads):
            one = numbers.maximum_is_one_row(Spot(trace, layer, head, 0, 0))
            rows = maps[head].max(-1)
            near = int((rows > rows.max() / 2).sum())
            if one is not None:
                assert rows.max() - mean[head] >= 0.1999 and 3 * near <= len(rows)
                assert f"{near} of {len(rows)} rows" in one.options[one.answer].why


def test_a_sure_head_often_rests_on_special_tokens() -> None:
    """The card of the spread says so: in the lab's sentence, the surest head of each layer from the second on does."""
    trace = lab.trace(lab.load_model("lab-minilm"), STORY)
    special = np.array(trace.encoding.special)
    for layer in range(1, trace.model.config.layers):
        maps = trace.layer(layer).attention.double().numpy()
        surest = int((-(maps * np.log(maps)).sum(-1).mean(-1)).argmin())
        assert maps[surest][:, special].sum(-1).mean() > 0.5
