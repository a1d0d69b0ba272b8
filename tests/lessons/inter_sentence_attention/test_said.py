"""What the figures of the lesson are said to mean: every number and claim again, from the attention tensors."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

import lab
from lab.analysis.sentences.attention import AVERAGE
from lab.analysis.sentences.same_word import same_word
from lab.analysis.sentences.split import as_one, crossing, split
from lab.course.sentences.examples import EXAMPLES
from lab.course.words import VISIBLE, head_name
from lab.figures.sentences import read
from lab.lessons.inter_sentence_attention import behind_a_cell, matrix, pair_or_not, special_tokens
from lab.lessons.inter_sentence_attention.view import EXAMPLE
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
    """The decimals of a sentence."""
    return [float(each) for each in re.findall(r"\d+\.\d+", text)]


def shares(text: str) -> list[float]:
    """The whole percents of a sentence, as shares."""
    return [int(each) / 100 for each in re.findall(r"(\d+)%", text)]


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


@every_case
@pytest.mark.parametrize("left_out", [False, True])
def test_lengths_are_shares_of_all_tokens_or_of_those_in_sentences(
    model: str, text: str, pair: str, left_out: bool
) -> None:
    trace = run(model, text, pair)
    sizes = [split(trace).of_token.count(number) for number in range(len(split(trace)))]
    said = matrix.lengths(trace, left_out)
    n = sum(sizes) if left_out and not trace.model.config.causal else len(trace)
    wanted = {max(sizes) / n, min(sizes) / n}
    assert sorted(shares(said)) == pytest.approx(sorted(wanted), abs=0.0051)
    assert ("equally long" in said) == (len(wanted) == 1)
    if len(wanted) == 2:
        longest, shortest = (sizes.index(size(sizes)) + 1 for size in (max, min))
        assert f"to sentence {longest} but only" in said
        assert f"to sentence {shortest}, because sentence {longest} is longer" in said


@every_case
@pytest.mark.parametrize("left_out", [False, True])
def test_sent_compares_a_sentence_with_itself_and_with_a_uniform_head(
    model: str, text: str, pair: str, left_out: bool
) -> None:
    trace = run(model, text, pair)
    mass, even = masses(trace, left_out)
    causal = trace.model.config.causal
    rows = range(1 if causal else 0, len(mass))
    own = [a for a in rows if all(mass[a, a] - mass[a, b] >= VISIBLE for b in range(len(mass)) if b != a)]
    for a, b in pairs_seen(trace):
        first, second = matrix.said(trace, a, b, left_out).split(". ", 1)
        assert first.startswith("No ") == (not own)
        assert first.startswith("Each ") == (1 < len(own) == len(rows))
        assert shares(first) == pytest.approx([mass[c, c] for c in own], abs=0.0051)
        same = abs(mass[a, b] - even[a, b]) < VISIBLE
        assert ("about the same" in second) == same
        assert shares(second) == pytest.approx([mass[a, b], *([] if same else [even[a, b]])], abs=0.0051)
        assert ("to itself" in second) == (a == b)
        if a != b and not causal:
            assert shares(matrix.other_way(trace, a, b, left_out)) == pytest.approx([mass[b, a]], abs=0.0051)


def is_word(token: str) -> bool:
    return any(letter.isalnum() for letter in token)


@every_case
@pytest.mark.parametrize("left_out", [False, True])
def test_the_words_behind_a_cell(model: str, text: str, pair: str, left_out: bool) -> None:
    """Every word's favourite word, from the mean of all maps; and what gets most of all."""
    trace = run(model, text, pair)
    own, attention = members(trace, left_out), trace.attention.numpy().astype(np.float64).mean(axis=(0, 1))
    if left_out:
        kept = [place for places in own for place in places]
        attention = attention / np.maximum(attention[:, kept].sum(axis=1, keepdims=True), 1e-12)
    for a, b in pairs_seen(trace):
        words = [[p for p in own[each] if is_word(trace.labels[p])] for each in (a, b)]
        best = {q: max((attention[q, k] for k in words[1] if k != q), default=0) for q in words[0]}
        links = behind_a_cell.strongest(trace, a, b, AVERAGE, left_out)
        wanted = sorted((value for value in best.values() if value > 0), reverse=True)
        assert [link.weight for link in links] == pytest.approx(wanted, abs=1e-5)
        assert all(link.weight == pytest.approx(attention[link.query, link.key], abs=1e-5) for link in links)
        said = behind_a_cell.said(trace, a, b, AVERAGE, left_out)
        if not links:
            assert "only punctuation marks" in said
            continue
        first, second = said.split(". Of the ")
        assert numbers(first) == pytest.approx(wanted[:2], abs=0.0051)
        given = attention[np.ix_(own[a], own[b])].mean(axis=0)
        assert shares(second) == pytest.approx([given.sum(), given.max()], abs=0.0051)
        place = own[b][int(given.argmax())]
        assert f"({place + 1})" in second and ("not a word" in second) == (not is_word(trace.labels[place]))


def test_the_head_that_gives_most_along_a_link() -> None:
    trace = run("lab-minilm", EXAMPLE, "")
    link = behind_a_cell.strongest(trace, 1, 0, AVERAGE, True)[0]
    assert (trace.labels[link.query], trace.labels[link.key]) == ("she", "girl")
    weights = trace.attention.numpy()[:, :, link.query, link.key]
    layer, head = (int(at) for at in np.unravel_index(int(weights.argmax()), weights.shape))
    said = behind_a_cell.of_heads(trace, link)
    assert f"layer {layer + 1}, head {head + 1} gives" in said
    assert numbers(said) == pytest.approx([weights.max()], abs=0.0051)


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
        said = special_tokens.said(trace, a, "elsewhere")
        same = abs(share - even) < VISIBLE
        assert shares(said) == pytest.approx([share, *([] if same else [even])], abs=0.0051)
        assert said.startswith(f"From sentence {a + 1}, ") and ("about the same" in said) == same
        largest = max(attention[np.ix_(places, other)].sum(axis=-1).mean() for other in own)
        assert ("more than any sentence" in said) == (share > largest)
        assert ("times as much" in said) == (share >= 2 * even)
        assert numbers(said) == pytest.approx([share / even] if share >= 2 * even else [], abs=0.051)


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
        told = pair_or_not.said(
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
        assert ("With a border, less attention crosses" in verdict) == (large and falls and not rises)
        assert ("With a border, more attention crosses" in verdict) == (large and rises and not falls)
        assert ("a few hundredths" in verdict) == (border and not large and (rises or falls))
        assert ("hardly changes" in verdict) == (border and not rises and not falls)
        ways = sides.split("; ")
        assert len(ways) == (1 if trace.model.config.causal else 2)
        for way in ways:
            a, b = ("AB".index(letter) for letter in re.findall(r"text ([AB])", way))
            assert shares(way) == pytest.approx([plain[a, b], one[a, b]], abs=0.0051)


def test_a_change_of_a_hundredth_is_no_effect_and_a_large_one_is_called_by_its_sign() -> None:
    def said(there: float, back: float) -> str:
        joined, pair = np.array([[0.5, 0.34], [0.29, 0.5]]), np.array([[0.5, there], [back, 0.5]])
        return pair_or_not.said(joined, pair, causal=False, border=True)

    assert "a few hundredths" in said(0.35, 0.27)
    assert "With a border, less attention crosses" in said(0.2, 0.2)
    assert "With a border, more attention crosses" in said(0.4, 0.4)
    assert "opposite ways" in said(0.4, 0.2)
    assert "hardly" in said(0.34, 0.29)


@pytest.mark.parametrize("model", MODELS)
def test_the_head_for_the_same_word_is_named_only_if_it_gives_clearly_more_than_a_uniform_head(model: str) -> None:
    trace = run(model, "The cat sat on the mat. The old cat slept.", "")
    found = same_word(trace)
    assert found is not None
    said, best = behind_a_cell.told_same(trace, found), found.given.max()
    assert f"{best:.2f}" in said and f"{found.uniform:.2f}" in said and "cat" in said
    assert ("No head clearly" in said) == (best < 2 * found.uniform)
    assert head_name(behind_a_cell.best_head(found)) in said.lower()
