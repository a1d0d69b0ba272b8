"""Names of heads against the rule written out, heads built by hand, uniform heads, and twins that learned nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lab
from lab.analysis.heads.induction import induction_score
from lab.analysis.heads.named import (
    MIXED,
    Chance,
    above_chance,
    follower_mass,
    mean_chance,
    name_heads,
    name_scores,
    pattern_scores,
    scores_of,
    trace_chance,
    trace_names,
    uniform_scores,
)
from lab.analysis.heads.patterns import PATTERNS, head_patterns, token_roles, trace_patterns
from lab.analysis.heads.values import uniform_attention
from lab.models.trace import Trace, trace, trace_encoding
from lab.models.twin import random_twin
from lab.toy.models import constructed_toy, random_toy
from tests.analysis.heads.test_patterns import built, roles_for
from tests.sentences import STORY
from tests.thorough import one_by_day

IDS = [pattern.id for pattern in PATTERNS]
TEXTS = (
    "The sleepy cat sat on the mat.",
    STORY,
    "The little girl sat in the shade of the old tree, and the old dog sat in the shade of the little tree.",
    "Stop!",
)


def by_hand(scores: list[float], uniform: list[float], untrained: list[float]) -> str:
    """The rule, one pattern after the other."""
    best, name = -math.inf, MIXED
    for id, score, even, twin in zip(IDS, scores, uniform, untrained, strict=True):
        if math.isnan(score) or even > 0.999999:
            continue
        above = (score - even) / (1 - even)
        if above >= 0.5 and (math.isnan(twin) or score > twin) and above > best:
            best, name = above, id
    return name


share = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))
six = st.lists(share, min_size=6, max_size=6)


@given(six, six, six, st.sets(st.integers(0, 5)))
def test_names_follow_the_rule(
    scores: list[float], uniform: list[float], untrained: list[float], missing: set[int]
) -> None:
    for place in missing:
        scores[place] = uniform[place] = untrained[place] = math.nan
    found = name_scores(np.array(scores), Chance(np.array(uniform), np.array(untrained)))
    assert str(found) == by_hand(scores, uniform, untrained)


def test_half_of_the_way_from_chance_is_enough_and_a_twin_above_takes_the_name() -> None:
    scores = np.array([[0.0], [0.625], [0.0], [0.0], [0.0], [0.0]])  # half of the way from 0.25 to 1
    uniform = np.full(6, 0.25)
    assert name_scores(scores, Chance(uniform, np.full(6, 0.3))).tolist() == ["next_token"]
    assert name_scores(scores - 0.001, Chance(uniform, np.full(6, 0.3))).tolist() == [MIXED]
    assert name_scores(scores, Chance(uniform, np.full(6, 0.7))).tolist() == [MIXED]


@given(st.data(), st.booleans(), st.integers(1, 12))
def test_uniform_attention_is_mixed_on_any_text(data: st.DataObject, causal: bool, n: int) -> None:
    roles = data.draw(roles_for(n, causal))
    even = head_patterns(uniform_attention(n, causal), roles, causal=causal)
    scores = scores_of(even)
    # Even if every untrained head scored nothing at all.
    assert name_heads(even, Chance(scores[:, 0], np.zeros(6))).tolist() == [MIXED]
    above = above_chance(scores, scores[:, 0])
    assert ((np.abs(above) < 1e-6) | np.isneginf(above) | np.isnan(above)).all()


def test_heads_built_to_show_a_pattern_get_its_name() -> None:
    # [CLS] a b a [SEP] c d e [SEP], a pair
    words = [None, "a", "b", "a", None, "c", "d", "e", None]
    special = [word is None for word in words]
    roles = token_roles(words, [0, 1, 2, 1, 9, 3, 4, 5, 9], special, [0, 0, 0, 0, 0, 1, 1, 1, 1], causal=False)
    n = len(words)
    even = scores_of(head_patterns(uniform_attention(n, False), roles, causal=False))[:, 0]
    heads = {
        "next_token": [[min(i + 1, n - 1)] for i in range(n)],
        "previous_token": [[max(i - 1, 0)] for i in range(n)],
        "same_word": [[1, 3] if i in (1, 3) else [i] for i in range(n)],
        "delimiter": [[0, 4]] * n,
        "bag_of_words": [[1, 2, 3] if i < 5 else [5, 6, 7] for i in range(n)],
        MIXED: [[i] for i in range(n)],
    }
    for name, keys in heads.items():
        found = head_patterns(built(n, keys), roles, causal=False)
        assert name_heads(found, Chance(even, even)).tolist() == [name]


def test_constructed_heads_get_the_names_they_were_written_for() -> None:
    """The third attends to all alike: that is what a uniform head does, so it has no name."""
    assert trace_names(lab.trace(constructed_toy(9, 8), "c e b e c a c")).tolist() == [
        ["previous_token", "same_word", MIXED]
    ]


@one_by_day
@pytest.mark.parametrize("model_id", ["lab-bert", "lab-gpt2"])
def test_heads_that_learned_nothing_have_no_name(model_id: str) -> None:
    model = lab.load_model(model_id)
    names: list[str] = []
    for seed in range(1, 4):
        twin = random_twin(model, seed)
        for text in TEXTS:
            names += trace_names(lab.trace(twin, text)).ravel().tolist()
    assert names.count(MIXED) >= 0.95 * len(names)


@pytest.mark.parametrize("model_id", ["lab-bert", "lab-gpt2"])
def test_the_models_that_ship_have_no_bag_of_words_but_heads_with_other_names(model_id: str) -> None:
    """On one sentence a uniform head scores 0.8 and more in BERT, and 1 in GPT-2."""
    model = lab.load_model(model_id)
    names = {name for text in TEXTS[:3] for name in trace_names(lab.trace(model, text)).ravel().tolist()}
    assert {"previous_token", "delimiter"} <= names
    assert not names & {"bag_of_words", "broad"}


def test_chance_is_what_a_uniform_head_and_the_best_head_of_the_twin_score() -> None:
    model = lab.load_model("lab-bert")
    seen = lab.trace(model, TEXTS[1])
    chance = trace_chance(seen)
    n = len(seen)  # [CLS], nine words, a full stop, [SEP]
    assert n == 12
    expected = {"broad": 1, "next_token": 1 / n, "previous_token": 1 / n, "delimiter": 2 / n, "bag_of_words": 10 / n}
    for id, value in expected.items():
        assert chance.uniform[IDS.index(id)] == pytest.approx(value, abs=1e-6), id
    twin = trace_patterns(trace_encoding(random_twin(model, 0), seen.encoding))
    assert chance.untrained[IDS.index("delimiter")] == twin.delimiter.max()
    assert math.isnan(chance.uniform[IDS.index("same_word")]) and math.isnan(chance.untrained[IDS.index("same_word")])


def test_chance_over_sentences_is_the_mean_of_each_heads_scores_and_then_the_best() -> None:
    nothing = np.full((6, 1, 2), 0.1)
    one, two = nothing.copy(), nothing.copy()
    one[1, 0], two[1, 0] = [0.9, 0.1], [0.1, 0.5]
    one[3] = np.nan  # the first sentence repeats no word
    chance = mean_chance([np.full(6, 0.2), np.full(6, 0.4)], [one, two])
    assert chance.uniform.tolist() == pytest.approx([0.3] * 6)
    assert chance.untrained[1] == pytest.approx(0.5)  # the first head's mean, not the best of each sentence
    assert chance.untrained[3] == pytest.approx(0.1)


def test_uniform_scores_without_the_delimiters() -> None:
    seen = lab.trace(lab.load_model("lab-bert"), TEXTS[1])
    found = dict(zip(IDS, uniform_scores(seen, only_words=True), strict=True))
    assert found["previous_token"] == pytest.approx(1 / 10)
    assert found["bag_of_words"] == pytest.approx(1)
    assert math.isnan(found["delimiter"])


def _attention(n: int, seed: int) -> np.ndarray:
    weights = np.tril(np.random.default_rng(seed).random((3, n, n)))
    return weights / weights.sum(-1, keepdims=True)


def _naive(attention: np.ndarray, ids: list[int]) -> list[float]:
    found = []
    for head in attention:
        masses = []
        for i in range(len(ids)):
            earlier = [j for j in range(i) if ids[j] == ids[i]]
            if earlier:
                masses.append(head[i, max(earlier) + 1])
        found.append(sum(masses) / len(masses) if masses else float("nan"))
    return found


@given(st.lists(st.integers(1, 5), min_size=1, max_size=12), st.integers(0, 99))
def test_follower_mass_is_that_of_a_loop(ids: list[int], seed: int) -> None:
    attention = _attention(len(ids), seed)
    assert follower_mass(attention, ids) == pytest.approx(_naive(attention, ids), nan_ok=True, rel=1e-5)


def test_on_a_sentence_said_twice_it_is_the_induction_score() -> None:
    attention = _attention(10, 1)
    assert follower_mass(attention, [4, 7, 1, 9, 2] * 2) == pytest.approx(induction_score(attention, 5))


def _traces(*sentences: str) -> list[Trace]:
    toy = constructed_toy(8, 8)
    return [trace(toy, sentence) for sentence in sentences]


def test_the_constructed_heads_score_one_in_their_pattern() -> None:
    traces = _traces("c e c b", "a a h d h")
    previous, same, broad = (pattern_scores(traces, name) for name in ("previous_token", "same_word", "broad"))
    assert previous.shape == (1, 3)
    assert previous[0, 0] == pytest.approx(1, abs=0.01)
    assert same[0, 1] == pytest.approx(1, abs=0.01)
    assert broad[0, 2] == pytest.approx(1, abs=1e-4)
    assert max(previous[0, 1:]) < 0.6


def test_a_score_is_the_mean_over_sentences_that_have_a_case() -> None:
    toy = random_toy(8, 8)
    texts = ("c e c b", "a b c", "d d d")
    traces = [trace(toy, text) for text in texts]
    alone = [follower_mass(t.layer(0).attention, t.token_ids) for t in traces]
    assert np.isnan(alone[1]).all()
    assert pattern_scores(traces, "induction")[0] == pytest.approx((alone[0] + alone[2]) / 2)
    same = np.nanmean([trace_patterns(t).same_word for t in traces[::2]], axis=0)
    assert pattern_scores(traces, "same_word") == pytest.approx(same)


def test_no_case_at_all_is_nan_and_no_traces_are_refused() -> None:
    assert np.isnan(pattern_scores(_traces("a b c"), "induction")).all()
    for pattern in ("induction", "broad"):
        with pytest.raises(ValueError, match="no traces"):
            pattern_scores([], pattern)
    with pytest.raises(AttributeError):
        pattern_scores(_traces("a b c"), "sorting")
