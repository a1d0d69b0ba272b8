"""The toy of two sentences does what it was written for, agrees with Hugging Face, and answers its own questions."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.models.interventions import Interventions
from lab.models.proof import prove
from lab.models.trace import Trace, changed, trace
from lab.questions.toy_questions import pair_checks
from lab.toy.data import as_text, generate
from lab.toy.letter_pairs import ACROSS, WITHIN, even_share, own_share, pair_toy
from lab.toy.settings import SettingError
from tests.thorough import examples

toy = cache(pair_toy)
SIZES = [(2, 2), (2, 32), (50, 2), (50, 32), (8, 8)]  # vocabulary, max_length: the corners and a usual one


def read(size: tuple[int, int], first: tuple[int, ...], second: tuple[int, ...]) -> Trace:
    return trace(toy(*size), as_text(first), as_text(second))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[tuple[int, int], tuple[int, ...], tuple[int, ...]]:
    """A size and two sentences that fit it; few words make many repetitions."""
    vocabulary, length = draw(st.sampled_from(SIZES))
    words = st.integers(1, draw(st.integers(1, vocabulary)))
    first, second = (tuple(draw(st.lists(words, min_size=2, max_size=length))) for _ in range(2))
    return (vocabulary, length), first, second


@settings(max_examples=examples(200))
@given(pairs())
def test_each_head_looks_where_its_rule_says(case: tuple[tuple[int, int], tuple[int, ...], tuple[int, ...]]) -> None:
    size, first, second = case
    attention = read(size, first, second).layer(0).attention.double()
    letters = [None, *first, None, *second, None]
    sentence = [0] * (len(first) + 2) + [1] * (len(second) + 1)
    separators = [len(first) + 1, len(letters) - 1]  # each at the end of its sentence
    for query, letter in enumerate(letters):
        if letter is None:
            continue
        within = [key for key, other in enumerate(letters) if other is not None and sentence[key] == sentence[query]]
        across = [key for key, other in enumerate(letters) if other is not None and sentence[key] != sentence[query]]
        same = [key for key in across if letters[key] == letter] or [separators[1 - sentence[query]]]
        for head, keys in ((ACROSS, same), (WITHIN, within)):
            expected = torch.zeros(len(letters), dtype=torch.double)
            expected[keys] = 1 / len(keys)
            # A key that is looked for scores 10 more than any other: at most 66 others take e^-10 each.
            torch.testing.assert_close(attention[head, query], expected, atol=67 * np.exp(-10), rtol=0)


@pytest.mark.parametrize("size", SIZES)
def test_every_step_is_that_of_hugging_face(size: tuple[int, int]) -> None:
    sentences = generate(*size, count=6, seed=1).sentences
    longest = (tuple(range(1, size[0] + 1)) * size[1])[: size[1]]
    for first, second in [*zip(sentences[::2], sentences[1::2], strict=True), (longest, longest)]:
        run = read(size, first, second)
        assert run.encoding.cut == 0 and prove(run.model, run).passed


def test_settings_out_of_bounds_are_refused() -> None:
    with pytest.raises(SettingError, match="vocabulary is 51"):
        pair_toy(51, 8)


def test_there_are_three_questions_for_every_two_sentences_and_the_toy_answers_them_so() -> None:
    sentences = generate(8, 8, 40, 0).sentences
    for first, second in zip(sentences[::2], sentences[1::2], strict=True):
        asked = [each for each in pair_checks(as_text(first).split(), as_text(second).split()) if each is not None]
        assert len(asked) >= 3 and len({each.id for each in asked}) == len(asked)
        answers = {each.id: each.options[each.answer].text for each in asked}
        run, border = read((8, 8), first, second), len(first) + 2
        attention = run.layer(0).attention.double()
        for place, letter in enumerate(as_text(first).split(), start=1):
            there = attention[ACROSS, place, border:-1]
            if answers.get("toy-shared") == f"At *{letter}* in sentence 2":
                assert there[[other == letter for other in run.tokens[border:-1]]].sum() > 0.99
        if "toy-alone" in answers:
            alone = next(letter for letter in as_text(first).split() if letter not in as_text(second).split())
            assert "[SEP]" in answers["toy-alone"]
            assert attention[ACROSS, run.tokens.index(alone), -1] > 0.99


def test_in_one_segment_a_letter_finds_itself_and_its_equals() -> None:
    row = trace(toy(8, 8), "c e a c").layer(0).attention[ACROSS, 1]
    assert row.tolist() == pytest.approx([0, 0.5, 0, 0, 0.5, 0], abs=1e-3)


@given(pairs())
def test_without_segments_a_head_does_not_stay_in_its_sentence(
    case: tuple[tuple[int, int], tuple[int, ...], tuple[int, ...]],
) -> None:
    """With them all but nothing leaves it. Without them letters of both sentences are alike to it."""
    size, one, other = case
    whole = read(size, one, other)
    without = changed(whole, Interventions(no_segments=True))
    assert own_share(whole) > 0.99
    even = (len(one) ** 2 + len(other) ** 2) / (len(one) + len(other)) ** 2
    assert even_share(whole) == pytest.approx(even) and own_share(without) == pytest.approx(even, abs=1e-4)
    weights = without.layer(0).attention[WITHIN]
    places = [at for at, special in enumerate(without.encoding.special) if not special]
    assert torch.allclose(weights[places][:, places], weights[places[0], places[0]], atol=1e-5)
