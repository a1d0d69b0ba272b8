"""The counts that ship: small, whole, by definitions that the file says, and of the texts that taught the models."""

from __future__ import annotations

import json

import pytest

from lab.evidence.what_was_read import BLANK, DEFINITIONS, FILE, PREPARED, Prepared, shipped


def test_at_least_twelve_sentences_are_counted_in_a_small_file() -> None:
    record = json.loads(FILE.read_text("utf-8"))
    assert FILE.stat().st_size < 100_000 and len(PREPARED) >= 12
    assert list(shipped().counts) == [each.text for each in PREPARED]
    assert record["definitions"] == {name: each.meaning for name, each in DEFINITIONS.items()}
    assert {each.by for each in PREPARED} == set(DEFINITIONS)
    # Each definition is one sentence.
    assert all(each.meaning.count(".") == 1 and each.meaning.endswith(".") for each in DEFINITIONS.values())


@pytest.mark.parametrize("prepared", PREPARED, ids=lambda each: each.text)
def test_a_sentence_has_one_blank_and_counts_of_its_words(prepared: Prepared) -> None:
    assert prepared.text.count(BLANK) == 1
    assert tuple(shipped().counts[prepared.text]) == prepared.words
    assert len(set(prepared.words)) == len(prepared.words) >= 2
    assert prepared.right in ("", *prepared.words)
    assert all(count >= 0 for count in shipped().counts[prepared.text].values())
    assert prepared.cue.lower() in prepared.text.lower() or prepared.by == "phrase"


def test_the_texts_are_those_of_the_training_split() -> None:
    """28.9 million words in all, one document in a hundred held out."""
    assert 28_000_000 < shipped().texts.words < 28_900_000
    assert json.loads(FILE.read_text("utf-8"))["split"] == "training"


def test_known_counts_are_as_an_earlier_count_found_them() -> None:
    """Other code counted all 28.9 million words by nearly the same definitions (issue 44): the counts are near."""
    counts = shipped().counts
    italy, france = counts["The capital of Italy is _."], counts["The capital of France is _."]
    nurse = counts["The nurse was tired because _ had worked all night."]
    doctor = counts["The doctor was tired because _ had worked all night."]
    earlier = {97: italy["Rome"], 45: italy["Milan"], 142: france["Paris"], 22: france["Lyon"], 52: nurse["she"]}
    earlier |= {25: nurse["he"], 239: doctor["he"], 48: doctor["she"]}
    assert all(abs(found - before) <= max(2, 0.06 * before) for before, found in earlier.items())
    assert not any(counts["Two plus two is _."].values())
