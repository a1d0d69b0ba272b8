"""The ladder of a word: every lookup or merge on its line, in the column of what it covers."""

from __future__ import annotations

from pathlib import Path

import pytest
from tokenizers import Tokenizer

from lab.charts.tokens.token_tables import lookup_chips, lookup_ladder, merge_chips, merge_ladder
from lab.models.loading import EMBEDDED
from lab.text.tokenizers.bpe import BpeWord, bpe_steps
from lab.text.tokenizers.wordpiece import WordSteps, wordpiece_steps
from tests.conftest import TinyCheckpoint

ALL = 10**9


@pytest.fixture(scope="module")
def bert() -> Tokenizer:
    return Tokenizer.from_file(str(EMBEDDED / "lab-bert" / "tokenizer.json"))


@pytest.fixture(scope="module")
def gpt2(tiny_checkpoint: TinyCheckpoint) -> Tokenizer:
    return Tokenizer.from_file(str(Path(tiny_checkpoint("gpt2")) / "tokenizer.json"))


def cut(tokenizer: Tokenizer, text: str) -> WordSteps:
    return wordpiece_steps(tokenizer, text).words[0]


def merged(tokenizer: Tokenizer, text: str) -> BpeWord:
    return bpe_steps(tokenizer, text).words[0]


def test_each_candidate_stands_under_the_characters_it_would_cover(bert: Tokenizer) -> None:
    assert lookup_ladder(cut(bert, "photographers"), ALL) == (
        "·   photographers   not in the vocabulary\n·   photographer    not in the vocabulary\n·   photographe     not "
        f"in the vocabulary\n✓   photograph      id {bert.token_to_id('photograph')}\n✓           ##ers   id "
        f"{bert.token_to_id('##ers')}"
    )


def test_it_stops_after_the_lookups_that_were_made(bert: Tokenizer) -> None:
    whole = lookup_ladder(cut(bert, "photographers"), ALL).splitlines()
    assert lookup_ladder(cut(bert, "photographers"), 2).splitlines() == whole[:2]


def test_wide_characters_take_two_columns(bert: Tokenizer) -> None:
    first, second, *_ = lookup_ladder(cut(bert, "xかき"), ALL).splitlines()
    # One character less, and two spaces in its place: fixed-width fonts draw kana twice as wide.
    assert second.index("not") == first.index("not") + 1


def test_a_long_run_of_misses_is_folded_and_counted(bert: Tokenizer) -> None:
    word = cut(bert, "x" + "ab" * 20 + "☃")
    text = lookup_ladder(word, ALL)
    shown = text.count("not in the vocabulary")
    hidden = sum(int(line.split()[1]) for line in text.splitlines() if "shorter candidates" in line)
    assert shown + hidden == sum(not lookup.found for lookup in word.lookups)
    assert hidden > 0


def test_chips_hold_the_pieces_found_and_what_is_left(bert: Tokenizer) -> None:
    word = cut(bert, "photographers")
    assert lookup_chips(word, 3) == [("photographers", (), None)]
    assert lookup_chips(word, 4) == [("photograph", (0,), "photograph"), ("ers", (), None)]
    assert lookup_chips(word, ALL) == [("photograph", (0,), "photograph"), ("ers", (1,), "##ers")]


def test_symbols_stay_in_their_columns_while_they_merge(gpt2: Tokenizer) -> None:
    assert merge_ladder(merged(gpt2, "The"), ALL) == (
        "T h e    3 bytes\nT he     h + e, rank 0\nThe      T + he, rank 16"
    )


def test_many_merges_are_folded_and_counted(gpt2: Tokenizer) -> None:
    word = merged(gpt2, "the" * 60)
    lines = merge_ladder(word, ALL).splitlines()
    (hidden,) = (int(line.split()[1]) for line in lines if "more merges" in line)
    assert len(lines) - 2 + hidden == len(word.merges)
    assert lines[-1].endswith(f"rank {word.merges[-1].rank}")


def test_chips_of_a_merged_word_are_its_symbols(gpt2: Tokenizer) -> None:
    word = merged(gpt2, "The")
    assert [run for run, _, _ in merge_chips(word, 1)] == ["T", "he"]
    assert [run for run, _, _ in merge_chips(word, ALL)] == list(word.symbols_after(ALL))
