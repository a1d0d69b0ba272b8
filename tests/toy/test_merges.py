"""A vocabulary learned merge by merge: against the paper's example, the library, and counting by hand."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from lab.toy.merges import BPE, MERGES, UNKNOWN, WORDPIECE, Learned, learn, library_merges, made_up, merged

# Sennrich et al. 2016, algorithm 1, without the sign for the end of a word.
SENNRICH = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
SEEDS = range(40)
trainers = pytest.mark.parametrize("trainer", [BPE, WORDPIECE])


def by_hand(corpus: dict[str, int], merges: int, trainer: str) -> Counter[tuple[str, str]]:
    """Counts of neighbours after so many merges, from the corpus written out word after word, joined by spaces."""
    lines = [" ".join(word) for word, times in corpus.items() for _ in range(times)]
    for left, right in learn(corpus, trainer).merges[:merges]:
        lines = [re.sub(rf"(?<!\S){left} {right}(?!\S)", left + right, line) for line in lines]
    found: Counter[tuple[str, str]] = Counter()
    for line in lines:
        pieces = line.split(" ")
        found.update((pieces[i], pieces[i + 1]) for i in range(len(pieces) - 1))
    return found


def test_the_example_of_the_paper() -> None:
    learned = learn(SENNRICH, most=4)
    assert learned.merges == (("e", "s"), ("es", "t"), ("l", "o"), ("lo", "w"))
    assert [learned.next(k)[0].count for k in range(4)] == [9, 9, 7, 7]
    assert list(learned.states[4]) == [
        ("low",),
        ("low", "e", "r"),
        ("n", "e", "w", "est"),
        ("w", "i", "d", "est"),
    ]
    assert learned.tokenizer(4).encode("lowest").tokens == ["low", "est"]
    assert learned.way("lowest", 4)[-1] == (4, ("low", "est"))


@pytest.mark.parametrize("corpus", [SENNRICH, {"banana": 3, "anan": 2, "aaaa": 4}], ids=["paper", "overlapping"])
def test_the_library_merges_the_same_pairs_in_the_same_order(corpus: dict[str, int]) -> None:
    assert learn(corpus).merges == library_merges(corpus)


def test_the_library_agrees_on_made_up_words() -> None:
    for seed in SEEDS:
        times = made_up(seed).times
        assert learn(times).merges == library_merges(times), seed
        assert all(len(learn(times, trainer).merges) == MERGES for trainer in (BPE, WORDPIECE)), seed


@trainers
def test_counts_are_those_of_the_corpus_written_out(trainer: str) -> None:
    for seed in range(8):
        times = dict(made_up(seed).times)
        learned = learn(times, trainer)
        for made in (0, 3, 9):
            counts = by_hand(times, made, trainer)
            assert {each.pair: each.count for each in learned.next(made)} == counts


def test_bpe_takes_the_most_frequent_pair_and_wordpiece_the_best_score() -> None:
    for seed in range(5):
        times = dict(made_up(seed).times)
        bpe, wordpiece = learn(times, BPE), learn(times, WORDPIECE)
        for made in range(MERGES):
            counts = by_hand(times, made, BPE)
            assert counts[bpe.merges[made]] == max(counts.values())
        counts, letters = by_hand(times, 0, WORDPIECE), Counter[str]()
        for word, often in times.items():
            letters.update({letter: often * word.count(letter) for letter in set(word)})
        scores = {pair: count / (letters[pair[0]] * letters[pair[1]]) for pair, count in counts.items()}
        assert scores[wordpiece.merges[0]] == pytest.approx(max(scores.values()))


def test_no_pair_that_occurs_once_is_merged() -> None:
    assert learn({"ab": 1, "cd": 2}).merges == (("c", "d"),) == library_merges({"ab": 1, "cd": 2})


def test_joining_goes_from_the_left() -> None:
    assert merged(("a", "a", "a"), ("a", "a")) == ("aa", "a")
    assert merged(("b", "a", "b", "a"), ("b", "a")) == ("ba", "ba")
    assert merged(("a",), ("a", "b")) == ("a",)


def test_made_up_words_are_a_stem_and_an_ending() -> None:
    for seed in SEEDS:
        corpus = made_up(seed)
        every = {stem + ending for stem in corpus.stems for ending in corpus.endings}
        assert set(corpus.times) | set(corpus.unseen) == every
        assert len(corpus.times) == 9 and len(corpus.unseen) == 3
        assert all(2 <= times <= 9 for times in corpus.times.values())
        seen = " ".join(corpus.times)
        assert all(part in seen for part in (*corpus.stems, *corpus.endings))
    assert made_up(3) == made_up(3) != made_up(4)


def _split(learned: Learned, word: str, made: int) -> list[str]:
    return learned.tokenizer(made).encode(word).tokens


def test_the_library_splits_a_word_as_its_way_ends() -> None:
    for seed in range(10):
        corpus = made_up(seed)
        learned = learn(corpus.times)
        for word in (*corpus.unseen, *corpus.times, corpus.unseen[0] * 2, corpus.stems[0]):
            for made in (0, 5, MERGES):
                assert tuple(_split(learned, word, made)) == learned.way(word, made)[-1][1]


def test_a_letter_the_corpus_lacks_is_unknown() -> None:
    learned = learn(SENNRICH)
    assert _split(learned, "loqw", 4) == ["lo", UNKNOWN, "w"]
    assert learned.way("loqw", 4)[-1][1] == ("lo", UNKNOWN, "w")
    assert learned.vocabulary(0)[UNKNOWN] == 0
    # WordPiece gives up the whole word.
    assert _split(learn(SENNRICH, WORDPIECE), "loqw", 4) == [UNKNOWN]


@trainers
def test_the_vocabulary_grows_by_one_a_merge_and_keeps_its_ids(trainer: str) -> None:
    learned = learn(made_up(1).times, trainer)
    for made in range(MERGES):
        before, after = learned.vocabulary(made), learned.vocabulary(made + 1)
        assert before.items() < after.items()
        assert set(after) - set(before) == {"".join(learned.merges[made])}
    assert list(learned.vocabulary(0)) == [UNKNOWN, *sorted(set("".join(made_up(1).times)))]
