"""Sentences of letters keep their promises, and the validation table notices when they do not."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from math import nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.toy.data import NotASentence, ToyData, as_text, generate, letter, summarise, typed, validate
from lab.toy.settings import SETTINGS, SettingError

SOUND = ToyData(((1, 1, 2), (3, 4)), vocabulary=4, max_length=3, count=2, seed=0)
CHECKS = MISSING, TYPE, INSIDE, LENGTHS, COUNT, COVERAGE = validate(SOUND)["check"].tolist()


def _between(name: str) -> st.SearchStrategy[int]:
    return st.integers(SETTINGS[name].low, SETTINGS[name].high)


def _failed(data: ToyData) -> list[str]:
    table = validate(data)
    return table.loc[~table.passed, "check"].tolist()


@given(_between("vocabulary"), _between("max_length"), _between("count"), _between("seed"))
def test_generated_sentences_keep_the_settings(vocabulary: int, max_length: int, count: int, seed: int) -> None:
    data = generate(vocabulary, max_length, count, seed)

    assert len(data.sentences) == count
    assert all(2 <= len(sentence) <= max_length for sentence in data.sentences)
    assert all(type(word) is int and 1 <= word <= vocabulary for sentence in data.sentences for word in sentence)
    assert set(_failed(data)) <= {COVERAGE}
    assert generate(vocabulary, max_length, count, seed) == data


def test_a_larger_count_only_adds_sentences_and_another_seed_changes_them() -> None:
    few, many = generate(9, 8, 5, seed=3), generate(9, 8, 200, seed=3)
    assert many.sentences[:5] == few.sentences
    assert generate(9, 8, 5, seed=4).sentences != few.sentences
    # Links carry seeds, so a seed's sentences must stay what they are.
    assert generate(9, 4, 3, seed=0).sentences == ((6, 5, 3, 3), (1, 1), (8, 6))


def test_every_length_and_every_word_is_drawn() -> None:
    data = generate(vocabulary=7, max_length=6, count=200, seed=0)
    assert {len(sentence) for sentence in data.sentences} == {2, 3, 4, 5, 6}
    assert {word for sentence in data.sentences for word in sentence} == set(range(1, 8))


@pytest.mark.parametrize("name", ["vocabulary", "max_length", "count", "seed"])
def test_settings_are_accepted_up_to_their_bounds_and_refused_beyond(name: str) -> None:
    usual = {"vocabulary": 5, "max_length": 4, "count": 3, "seed": 0}
    setting = SETTINGS[name]
    for good in (setting.low, setting.high):
        generate(**{**usual, name: good})
    bad: list[Any] = [setting.low - 1, setting.high + 1, setting.low + 0.5, "3", None]
    for value in bad:
        with pytest.raises(SettingError, match=rf"{name} is .* from {setting.low} to {setting.high}: .*\.$"):
            generate(**{**usual, name: value})


def test_sound_data_passes_every_check_in_a_fixed_order() -> None:
    table = validate(SOUND)
    assert table.columns.tolist() == ["check", "expected", "found", "passed"]
    assert table.check.tolist() == CHECKS
    assert table.passed.all()


@pytest.mark.parametrize(
    ("fault", "check", "found"),
    [
        ({"sentences": ((1, 2, None), (3, 4))}, MISSING, "1 missing"),
        ({"sentences": ((1, 2, nan), (3, 4))}, MISSING, "1 missing"),
        ({"sentences": ((1, 2, 2.0), (3, 4))}, TYPE, "4 of 5 integers"),
        ({"sentences": ((1, 2, "2"), (3, 4))}, TYPE, "4 of 5 integers"),
        ({"sentences": ((1, 2, True), (3, 4))}, TYPE, "4 of 5 integers"),
        ({"sentences": ((1, 2, 0), (3, 4))}, INSIDE, "1 outside, from 0 to 4"),
        ({"sentences": ((1, 2, 5), (3, 4))}, INSIDE, "1 outside, from 1 to 5"),
        ({"sentences": ((1, 2, 3), (4,))}, LENGTHS, "from 1 to 3"),
        ({"sentences": ((1, 2, 3, 4), (3, 4))}, LENGTHS, "from 2 to 4"),
        ({"count": 3}, COUNT, "2"),
        ({"sentences": ((1, 2, 2), (3, 3))}, COVERAGE, "3 of 4 words"),
    ],
)
def test_each_check_fails_alone_for_its_own_fault(fault: dict[str, Any], check: str, found: str) -> None:
    data = replace(SOUND, **fault)
    assert _failed(data) == [check]
    assert validate(data).set_index("check").loc[check, "found"] == found


def test_no_sentences_is_no_pass() -> None:
    assert _failed(replace(SOUND, sentences=())) == CHECKS[2:]


def test_summary_of_a_worked_example() -> None:
    data = ToyData(((1, 1, 2), (1, 3)), vocabulary=4, max_length=3, count=2, seed=0)
    table = summarise(data)
    assert table.columns.tolist() == ["statistic", "value", "unit"]
    expected = {
        "sentences": 2,
        "tokens": 5,
        ", mean": 2.5,
        ", minimum": 2,
        ", maximum": 3,
        ", standard deviation": 0.5,
        "most common word": 1,
        "frequency of the most common": 0.6,
        "least common word": 4,
        "frequency of the least common": 0.0,
        "vocabulary seen": 0.75,
        "entropy of the words": 0.9502705392332347,  # −0.6·ln 0.6 − 2·0.2·ln 0.2
        "largest possible entropy": 1.3862943611198906,  # ln 4
        "entropy /": 0.6854752972273344,
    }
    assert all(part in name for part, name in zip(expected, table.statistic, strict=True))
    assert table.value.tolist() == pytest.approx(list(expected.values()))


@pytest.mark.parametrize(("words", "entropy"), [((1, 1), 0.0), ((1, 2), math.log(2)), ((1, 2, 3, 4), math.log(4))])
def test_entropy_of_equal_shares_is_the_logarithm_of_their_number(words: tuple[int, ...], entropy: float) -> None:
    table = summarise(ToyData((words,), vocabulary=4, max_length=4, count=1, seed=0)).set_index("statistic")
    # As text, because -0.0 == 0.0 and a learner would see the sign.
    assert str(table.loc["entropy of the words", "value"]) == str(entropy)


def test_summary_leaves_out_what_is_no_word_and_refuses_no_words() -> None:
    faulty: Any = ((1, 2, None), (3, 99))
    assert summarise(replace(SOUND, sentences=faulty)).set_index("statistic").loc["tokens", "value"] == 3
    with pytest.raises(ValueError, match="no words"):
        summarise(replace(SOUND, sentences=()))


def test_as_text() -> None:
    assert as_text((3, 5, 2)) == "c e b"
    assert as_text((1, 26, 27, 50)) == "a z A X"
    assert len({letter(word) for word in range(1, SETTINGS["vocabulary"].high + 1)}) == SETTINGS["vocabulary"].high


@pytest.mark.parametrize(("text", "words"), [("a b a c", (1, 2, 1, 3)), ("abac", (1, 2, 1, 3)), (" h\ta ", (8, 1))])
def test_letters_that_somebody_typed_are_read(text: str, words: tuple[int, ...]) -> None:
    assert typed(text, 8, 8) == words
    assert as_text(typed(text, 8, 8)).replace(" ", "") == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a b z", "“z” is not a word of this toy. Its vocabulary has 8 words, a to h."),
        ("a é", "“é”"),
        ("a <b>", "“<”"),
        ("a 🙂", "“🙂”"),
        ("A a", "“A”"),
        ("a", "1 letters"),
        ("", "0 letters"),
        ("a" * 9, "9 letters. A toy reads 2 to 8 here."),
    ],
)
def test_what_a_toy_cannot_read_is_refused_with_a_sentence(text: str, said: str) -> None:
    with pytest.raises(NotASentence, match=re.escape(said)):
        typed(text, 8, 8)


def test_typed_sentences_pass_every_check_but_that_of_all_words() -> None:
    own = ToyData((typed("abba", 8, 8),), 8, 8, 1, 0)
    checked = validate(own).set_index("check")["passed"]
    assert not checked.pop(COVERAGE) and checked.all()


def test_the_ids_of_a_model_begin_at_0() -> None:
    """Ids 0 to 9: a toy of ten words has no 0, a model of ten has no 10."""
    inside = validate(ToyData(((0, 9),), 10, 4, 1, 0, first=0)).set_index("check")
    assert inside.loc[INSIDE, "passed"]
    assert inside.loc[INSIDE, "expected"] == "all from 0 to 9"
    for data in (ToyData(((0, 9),), 10, 4, 1, 0), ToyData(((1, 10),), 10, 4, 1, 0, first=0)):
        assert not validate(data).set_index("check").loc[INSIDE, "passed"]
    summed = summarise(ToyData(((0, 9, 9),), 10, 4, 1, 0, first=0)).set_index("statistic")["value"]
    assert summed["most common word"] == 9 and summed["vocabulary seen"] == pytest.approx(0.2)
