"""What the attention-metrics lesson says of its figures, held to the maps by other formulas than the lab's."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import lab
from lab.analysis.heads.effective import entropy_of_row
from lab.analysis.heads.metrics import METRICS, trace_metrics
from lab.analysis.heads.parked import effect_sizes, parked_share
from lab.course.words import plain
from lab.lessons.attention_metrics import checks, meanings
from lab.lessons.attention_metrics.parking import compared
from lab.models.trace import Trace
from tests.by_id import by_id
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint
from tests.sentences import STORY

TEXTS = (STORY, "The sleepy cat sat on the mat.", "Dogs bark.")


@pytest.fixture(
    scope="module", params=[(model, text) for model in ("lab-minilm", "lab-bert", "lab-gpt2") for text in TEXTS]
)
def trace(request: pytest.FixtureRequest) -> Trace:
    model, text = request.param
    return lab.trace(lab.load_model(model), text)


def maps_of(trace: Trace) -> NDArray[np.float64]:
    return torch.stack([trace.layer(at).attention for at in range(trace.model.config.layers)]).double().numpy()


def entropy_of(weights: NDArray[np.float64]) -> float:
    """The entropy in nats of ``weights`` divided by their sum, by PyTorch."""
    return float(torch.distributions.Categorical(probs=torch.from_numpy(weights)).entropy())


def named_heads(said: str) -> list[tuple[int, int]]:
    return [(int(a) - 1, int(b) - 1) for a, b in re.findall(r"layer (\d+), head (\d+)", said)]


def test_first_and_last_are_the_extremes_of_the_metric(trace: Trace) -> None:
    maps = maps_of(trace)
    cells = np.tril(np.ones(maps.shape[-2:], bool)) if trace.model.config.causal else np.ones(maps.shape[-2:], bool)
    for id, own, even in (
        ("confidence_avg", maps.max(-1).mean(-1), float(np.mean(1 / cells.sum(1)))),
        ("unevenness", maps[..., cells].std(-1), float(np.std((cells / cells.sum(1, keepdims=True))[cells]))),
    ):
        metric = by_id(METRICS, id)
        said = meanings.sorted_heads(trace_metrics(trace).raw[metric.id], metric, even)
        high, low = named_heads(said.lower())
        assert own[high] == pytest.approx(own.max(), abs=1e-6)
        assert own[low] == pytest.approx(own.min(), abs=1e-6)
        above = re.search(rf"(\d+|none) of {own.size} heads (?:is|are) above that\.", said)
        assert above is not None
        count = 0 if above[1] == "none" else int(above[1])
        # A head that equals a uniform one to rounding may be counted on either side.
        assert (own > even + 1e-6).sum() <= count <= (own > even - 1e-6).sum()
        assert metric.use not in said  # it stands beside the choice of the metric


def test_no_head_is_more_even_than_a_uniform_one(trace: Trace) -> None:
    entropy = trace_metrics(trace).corrected["spread"]
    assert (entropy < 1).all()
    assert "no head can be" in meanings.sorted_heads(entropy, by_id(METRICS, "spread"), 1.0)


def keys_of(maps: NDArray[np.float64]) -> NDArray[np.float64]:
    """e to the entropy of each row, by torch."""
    return np.exp(torch.distributions.Categorical(probs=torch.from_numpy(maps)).entropy().numpy())


def test_a_head_looks_at_as_many_words_as_told(trace: Trace) -> None:
    keys = keys_of(maps_of(trace))
    for layer, head, query in ((0, 0, len(trace) - 1), (2, 3, 1)):
        said = meanings.looks_at(trace, layer, head, query)
        seen = query + 1 if trace.model.config.causal else len(trace)
        assert f"of {seen} tokens" in said
        assert [float(each) for each in re.findall(r"\d+\.\d", said)] == pytest.approx(
            [keys[layer, head, query], keys[layer, head].mean()], abs=0.051
        )


def test_the_wider_of_two_heads_looks_at_more_words(trace: Trace) -> None:
    means = keys_of(maps_of(trace))[1].mean(-1)
    said = meanings.two(trace, 1, 2, 5)
    more, less = (2, 5) if means[2] > means[5] else (5, 2)
    if means[more] - means[less] < 0.05:
        assert said.startswith("Both heads")
    else:
        assert said.startswith(f"Head {more + 1} looks at {means[more]:.1f} tokens")
        assert f"head {less + 1} at {means[less]:.1f}" in said
    other = meanings.least_alike(trace, 1, 2)
    assert other is not None
    apart = abs(np.log(means / means[2]))
    assert apart[other] == pytest.approx(max(apart[at] for at in range(len(means)) if at != 2), rel=1e-3)


def test_what_a_head_points_at_is_looked_for_among_words(trace: Trace) -> None:
    """Rows and columns of special tokens, or of a model's first token, are cut out of the maps, the rest rescaled."""
    special = np.array(trace.encoding.special)
    keep = ~special if special.any() else np.arange(len(trace)) > 0
    maps = maps_of(trace)[1][:, keep][..., keep]
    maps /= maps.sum(-1, keepdims=True)
    rows = maps[:, 1:] if trace.model.config.causal else maps  # its first word sees itself alone
    clear = rows.max(-1).mean(-1)
    for head, other in ((2, 5), (0, 1), (3, 4)):
        said = meanings.two(trace, 1, head, other)
        first, second = (head, other) if clear[head] > clear[other] else (other, head)
        assert ("clearer favourites" in said) == (clear[first] - clear[second] >= 0.05)
        if "clearer favourites" in said:
            head_of_fewer = int(said.split("head ")[1].split()[0])  # the sentence names the wider head first
            assert ("Also without" in said) == (head_of_fewer == first + 1 and "Both heads" not in said)
            told = said.partition("without ")[2]
            assert f", head {first + 1} has the clearer favourites" in told
            assert [float(each) for each in re.findall(r"\d\.\d\d", told)] == pytest.approx(
                [clear[first], clear[second]], abs=0.0051
            )


def test_the_number_of_tokens_is_explained_by_the_entropy_of_the_row(trace: Trace) -> None:
    row = maps_of(trace)[1, 2, len(trace) - 1]
    said = meanings.why_so_many(row.astype(np.float32))
    entropy = entropy_of(row[row > 0])
    numbers = [float(each) for each in re.findall(r"\d+\.\d+", said)]
    assert numbers == pytest.approx([entropy, entropy, np.exp(entropy)], abs=0.051)
    assert np.exp(entropy_of(np.full(3, 1 / 3))) == pytest.approx(3), "as the page says of three equal weights"


def test_a_sure_head_often_rests_on_special_tokens() -> None:
    """The card of the spread says so: in the lab's sentence, the surest head of each layer from the second on does."""
    trace = lab.trace(lab.load_model("lab-minilm"), TEXTS[0])
    special, maps = np.array(trace.encoding.special), maps_of(trace)
    entropy = -(maps * np.log(maps)).sum(-1).mean(-1)
    surest = [maps[layer, entropy[layer].argmin()][:, special].sum(-1).mean() for layer in range(1, len(maps))]
    assert min(surest) > 0.5


def test_a_head_stands_out_where_it_is_told_to(trace: Trace) -> None:
    every = trace_metrics(trace)
    for head in ((0, 0), (2, 3), (3, 7)):
        said = meanings.stands_out(every, head)
        ends: dict[str, list[int]] = {}  # equal values share the better place
        for metric in METRICS:
            values = every.raw[metric.id]
            if np.ptp(values) == 0:
                continue
            ends[metric.name] = [1 + int((values < values[head]).sum()), 1 + int((values > values[head]).sum())]
        best = min(min(each) for each in ends.values())
        nearest = {name for name, each in ends.items() if min(each) == best}
        assert {metric.name for metric in METRICS if metric.name in said} == nearest
        assert (f"number {best} from" in said) == (best > 1)
        assert ("By the other metrics, this head is farther" in said) == (len(nearest) < len(ends))
        for name in nearest:
            side = said.partition(name)[0]
            lowest = side.rfind("lowest") > side.rfind("highest")
            assert ends[name][0 if lowest else 1] == best


def test_a_row_is_as_uncertain_as_told(trace: Trace) -> None:
    query = len(trace) - 1
    weights = maps_of(trace)[0, 0]
    row = entropy_of_row(weights.astype(np.float32), query, causal=trace.model.config.causal)
    own = weights[query]
    entropy = float(-(own[own > 0] * np.log(own[own > 0])).sum())
    said = meanings.row(trace, query, row)
    assert f"In effect it looks at {np.exp(entropy):.1f}:" in said
    assert f"{entropy / np.log(len(own)):.0%}" in said


def test_the_correlation_is_that_of_the_ranks_and_claims_no_more(trace: Trace) -> None:
    place = len(trace) - 2
    word = int(trace.logits(place)[0].argmax())
    rho, band = meanings.correlation(trace, place, word)
    count = trace.model.config.layers * trace.model.config.heads
    assert band == pytest.approx(1.96 / np.sqrt(count - 1))
    shuffled = np.random.default_rng(0).permuted(np.tile(np.arange(float(count)), (4000, 1)), axis=1)
    inside = np.mean([abs(np.corrcoef(each, np.arange(count))[0, 1]) < band for each in shuffled])
    assert inside == pytest.approx(0.95, abs=0.015)  # what is said of chance
    said, full = meanings.parked(trace, place, word), meanings.parked_in_full(trace, place, word)
    assert full.startswith(compared(trace, place, word)) and f"below {band:.2f}" in full
    assert f"**{rho:.2f}**".replace("-", "−") in full
    assert ("over all heads, the two numbers are hardly related" in said) == (abs(rho) <= band)
    assert ("the less tends to change" in said) == (rho < -band)
    share = parked_share(trace)
    for text, of in (("no head parks", (share <= 0.9).all(1)), ("all", (share > 0.9).all(1))):
        layers = re.search(rf"[Ii]n layers? ([\d, and]+), {text}", full)
        found = {int(each) - 1 for each in re.findall(r"\d", layers[1])} if layers else set()
        assert found == (set(np.flatnonzero(of)) if (share > 0.9).any() and (share <= 0.9).any() else set())
    question = checks.goes_together(rho, band)
    if question is not None:
        assert ("Neither" in question.options[question.answer].text) == (abs(rho) < band)


def test_parking_is_compared_inside_layers_too(trace: Trace) -> None:
    place = len(trace) - 2
    word = int(trace.logits(place)[0].argmax())
    mean, limit = meanings.within_layers(trace, place, word)
    ranks = [
        np.argsort(np.argsort(each, axis=1), axis=1) for each in (parked_share(trace), effect_sizes(trace, place, word))
    ]
    assert mean == pytest.approx(np.mean([np.corrcoef(*rows)[0, 1] for rows in zip(*ranks, strict=True)]), abs=1e-6)
    layers, heads = trace.model.config.layers, trace.model.config.heads
    shuffled = np.random.default_rng(0).permuted(np.tile(np.arange(float(heads)), (4000 * layers, 1)), axis=1)
    rhos = np.array([np.corrcoef(each, np.arange(heads))[0, 1] for each in shuffled]).reshape(-1, layers).mean(1)
    assert np.mean(abs(rhos) < limit) == pytest.approx(0.95, abs=0.015)
    said = meanings.parked(trace, place, word)
    rho, band = meanings.correlation(trace, place, word)
    full = meanings.parked_in_full(trace, place, word)
    told = re.search(r"Within a layer, it is (−?[\d.]+) on average", full)
    assert told is not None and float(told[1].replace("−", "-")) == pytest.approx(mean, abs=0.006)
    assert f"below {limit:.2f}." in full
    within, over = abs(mean) <= limit, abs(rho) <= band
    assert ("the layer may be the reason" in said) == (within and not over)
    assert ("and inside a layer they are not, either" in said) == (within and over)
    assert ("inside a layer it is the same" in said) == (not within and not over and mean * rho > 0)


@pytest.mark.parametrize("family", ["bert", "gpt2", "electra"])
def test_every_family(family: Family, tiny_checkpoint: TinyCheckpoint) -> None:
    trace = lab.trace(lab.load_model(tiny_checkpoint(family, seed=1)), "The cat sat.")
    every = trace_metrics(trace)
    for said in (
        meanings.sorted_heads(every.raw["spread"], by_id(METRICS, "spread"), 1.0),
        meanings.two(trace, 0, 0, 1),
        meanings.looks_at(trace, 0, 0, 1),
        meanings.stands_out(every, (0, 0)),
        meanings.parked(trace, None, None),
    ):
        assert "nan" not in plain(said) and said.endswith(".")


def test_numbers_that_are_all_equal_sort_nothing() -> None:
    assert "sorts nothing" in meanings.sorted_heads(np.ones((2, 2)), by_id(METRICS, "confidence_max"), 0.5)
