"""What the figures of the lesson are said to mean: every number and claim again, from the attention tensors."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

import lab
from lab.analysis.sentences.split import as_one, crossing, split
from lab.course.sentences.examples import EXAMPLES
from lab.figures.sentences import read
from lab.lessons.inter_sentence_attention import meanings
from lab.models.trace import Trace

MODELS = ("lab-minilm", "lab-bert", "lab-gpt2")
TEXTS = [(each.text, each.pair) for each in EXAMPLES if "." in each.text[:-1] or each.pair]
TEXTS += [("The cat sat. The dog ran.", ""), ("Dr. Miller lost his dog. It barked! Nobody heard it in the park.", "")]
CASES = [(model, *text) for model in MODELS for text in TEXTS]
every_case = pytest.mark.parametrize(("model", "text", "pair"), CASES)
Array = NDArray[np.float64]


@cache
def run(model: str, text: str, pair: str) -> Trace:
    return lab.trace(lab.load_model(model), text, pair or None)


def numbers(text: str) -> list[float]:
    """The decimals of a sentence; a typographic minus counts."""
    return [float(each) for each in re.findall(r"-?\d+\.\d+", text.replace("−", "-"))]


def members(trace: Trace, left_out: bool) -> list[list[int]]:
    """The places of each sentence; left out, a model without special tokens gives up its first token."""
    first = left_out and not any(trace.encoding.special)
    of = [None if first and place == 0 else number for place, number in enumerate(split(trace).of_token)]
    return [[place for place, number in enumerate(of) if number == s] for s in range(len(split(trace)))]


def masses(trace: Trace, left_out: bool) -> tuple[Array, Array]:
    """What a token of each sentence sends to each, and what an even spread would: loops over sentences, no blocks."""
    own, n = members(trace, left_out), len(trace)
    attention = trace.attention.numpy().astype(np.float64).mean(axis=(0, 1))
    even = np.tril(np.ones((n, n))) if trace.model.config.causal else np.ones((n, n))
    even /= even.sum(axis=-1, keepdims=True)
    if left_out:
        kept = [place for places in own for place in places]
        shared = []
        for weights in (attention, even):
            inside = np.zeros_like(weights)
            inside[:, kept] = weights[:, kept]
            total = inside.sum(axis=-1, keepdims=True)
            shared.append(np.divide(inside, total, out=np.zeros_like(inside), where=total > 0))
        attention, even = shared
    sums = [[[m[np.ix_(p, q)].sum(axis=-1).mean() for q in own] for p in own] for m in (attention, even)]
    return np.array(sums[0]), np.array(sums[1])


def pairs_seen(trace: Trace) -> list[tuple[int, int]]:
    count, causal = len(split(trace)), trace.model.config.causal
    return [(a, b) for a in range(count) for b in range(count) if not causal or b <= a]


def than(value: float, other: float) -> str:
    return "about as much" if abs(value - other) < meanings.SEEN else "more than" if value > other else "less than"


@every_case
def test_lengths_are_shares_of_all_tokens(model: str, text: str, pair: str) -> None:
    trace = run(model, text, pair)
    sizes = [split(trace).of_token.count(number) for number in range(len(split(trace)))]
    said = meanings.lengths(trace)
    wanted = {max(sizes) / len(trace), min(sizes) / len(trace)}
    assert sorted(numbers(said)) == pytest.approx(sorted(wanted), abs=0.0051)
    assert ("Each sentence has" in said) == (len(wanted) == 1)
    if len(wanted) == 2:
        assert (
            f"{max(wanted):.2f}** to sentence {sizes.index(max(sizes)) + 1}," in said
            and f"to sentence {sizes.index(min(sizes)) + 1}," in said
        )


@every_case
@pytest.mark.parametrize("left_out", [False, True])
def test_sent_compares_a_mass_with_an_even_spread(model: str, text: str, pair: str, left_out: bool) -> None:
    trace = run(model, text, pair)
    mass, even = masses(trace, left_out)
    for a, b in pairs_seen(trace):
        said = meanings.sent(trace, a, b, left_out)
        assert numbers(said)[:2] == pytest.approx([mass[a, b], even[a, b]], abs=0.0051)
        assert than(mass[a, b], even[a, b]) in said and ("keeps" in said) == (a == b)
        row = sorted(mass[a])
        assert ("largest number in its row" in said) <= (mass[a, b] == row[-1])
        if "Most in its row" in said:
            best = int(mass[a].argmax())
            assert f"goes to {'itself' if best == a else f'sentence {best + 1}'}" in said
            assert numbers(said)[2] == pytest.approx(row[-1], abs=0.0051)
        elif "largest number" not in said:
            alone = trace.model.config.causal and a == 0
            assert ("No sentence leads" in said) != alone and (alone or row[-1] - row[-2] < meanings.SEEN)


@every_case
@pytest.mark.parametrize("left_out", [False, True])
def test_reading_is_true_of_the_matrix(model: str, text: str, pair: str, left_out: bool) -> None:
    trace = run(model, text, pair)
    mass, even = masses(trace, left_out)
    seen = pairs_seen(trace)
    diagonal, off, direction, links = meanings.reading(trace, left_out)
    own = sum(mass[a, a] >= max(mass[c, d] for c, d in seen if c == a) for a in range(len(mass)))
    assert f"largest number in {own} of {len(mass)} rows" in diagonal
    top = max((pair for pair in seen if pair[0] != pair[1]), key=lambda pair: mass[pair])
    assert f"from sentence {top[0] + 1} to sentence {top[1] + 1}: {mass[top]:.2f}" in off
    means = [
        np.mean([mass[a, b] / even[a, b] for a, b in seen if (a > b) == back and a != b] or [np.nan])
        for back in (True, False)
    ]
    wanted = means[:1] if trace.model.config.causal else means
    assert numbers(direction) == pytest.approx(wanted, abs=0.0051)
    assert ("never looks ahead" in direction) == trace.model.config.causal
    assert "coreference" in links and "discourse" in links


@every_case
def test_taken_is_what_is_missing_among_sentences(model: str, text: str, pair: str) -> None:
    trace = run(model, text, pair)
    own, n = members(trace, left_out=True), len(trace)
    inside = [place for places in own for place in places]
    attention = trace.attention.numpy().astype(np.float64).mean(axis=(0, 1))
    causal = trace.model.config.causal
    for a, places in enumerate(own):
        share = 1 - attention[np.ix_(places, inside)].sum(axis=-1).mean()
        even = float(
            np.mean([1 - sum(p <= q or not causal for p in inside) / (q + 1 if causal else n) for q in places])
        )
        said = meanings.taken(trace, a, "elsewhere")
        assert numbers(said)[:2] == pytest.approx([share, even], abs=0.0051)
        assert f"sentence {a + 1}, " in said
        if "times as much" in said:
            assert share >= 2 * even and numbers(said)[2] == pytest.approx(share / even, abs=0.051)
        else:
            assert {"about": "about the same", "more than": "is more", "less than": "is less"}[
                than(share, even)
            ] in said


@pytest.mark.parametrize("model", MODELS)
def test_paired_compares_two_runs(model: str) -> None:
    for text, pair in (each for each in TEXTS if each[1]):
        trace = run(model, text, pair)
        joined = lab.trace(trace.model, f"{text} {pair}")
        side = [
            [p for p, (start, end) in enumerate(joined.offsets) if end > start and (start < len(text)) == first]
            for first in (True, False)
        ]
        plain, _ = masses(trace, left_out=False)
        together = joined.attention.numpy().astype(np.float64).mean(axis=(0, 1))
        one = np.array([[together[np.ix_(p, q)].sum(axis=-1).mean() for q in side] for p in side])
        run_as_one, sentences = as_one(trace)
        in_pair = split(trace).in_pair
        border = any(trace.encoding.special)
        told = meanings.paired(
            crossing(read(run_as_one, sentences, False), in_pair),
            crossing(read(trace, split(trace), False), in_pair),
            trace.model.config.causal,
            border,
        )
        verdict, _, sides = told.partition(": ")
        moved = [plain[1, 0] - one[1, 0], *([] if trace.model.config.causal else [plain[0, 1] - one[0, 1]])]
        rises, falls = any(change >= 0.01 for change in moved), any(change <= -0.01 for change in moved)
        large = border and any(abs(change) >= 0.05 for change in moved)
        assert ("no border" in verdict) == (not border)
        assert ("opposite ways" in verdict) == (large and rises and falls)
        assert ("Less crosses" in verdict) == (large and falls and not rises)
        assert ("More crosses" in verdict) == (large and rises and not falls)
        assert ("a few hundredths" in verdict) == (border and not large and (rises or falls))
        assert ("hardly changes" in verdict) == (border and not rises and not falls)
        ways = sides.split("; ")
        assert len(ways) == (1 if trace.model.config.causal else 2)
        for way in ways:
            a, b = ("AB".index(letter) for letter in re.findall(r"text ([AB])", way))
            assert numbers(way) == pytest.approx([plain[a, b], one[a, b]], abs=0.0051)


def test_a_change_of_a_hundredth_is_no_effect_and_a_large_one_is_called_by_its_sign() -> None:
    def said(there: float, back: float) -> str:
        joined, pair = np.array([[0.5, 0.34], [0.29, 0.5]]), np.array([[0.5, there], [back, 0.5]])
        return meanings.paired(joined, pair, causal=False, border=True)

    assert "a few hundredths" in said(0.35, 0.27)
    assert "Less crosses" in said(0.2, 0.2)
    assert "More crosses" in said(0.4, 0.4)
    assert "opposite ways" in said(0.4, 0.2)
    assert "hardly" in said(0.34, 0.29)
