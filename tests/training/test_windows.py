"""Windows are whole, masks are where they say, and what is held out stays out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
import torch

from tests.training.conftest import Corpora
from training.corpus import SOURCES, paragraphs_to_sentences, split
from training.gpt2 import TextSampler
from training.windows import Batch, Batches, Draw, WindowSampler, endless, mask_tokens


def sampler(wordpiece: Corpora, seed: int = 0) -> WindowSampler:
    tokenizer, (train, _) = wordpiece
    return WindowSampler(train, SOURCES, tokenizer, seed)


def test_sentences_split_where_they_end_and_not_after_initials() -> None:
    text = 'Dr. Lee met J. Smith. "Hello!" she said. He left.\n\nSo did she.'
    assert paragraphs_to_sentences(text) == [
        "Dr. Lee met J. Smith.",
        '"Hello!" she said.',
        "He left.",
        "So did she.",
    ]


def test_no_document_is_both_trained_on_and_held_out(corpora: Path) -> None:
    train, held_out = split(corpora)
    assert {index for index, _ in held_out} == set(range(len(SOURCES)))
    assert not set(train) & set(held_out)


def test_rows_of_a_batch_are_equally_long_and_end_in_sep(wordpiece: Corpora) -> None:
    vocabulary = wordpiece[0].get_vocab()
    for batch in (sampler(wordpiece).singles(32, 512), sampler(wordpiece).pairs(32, 512)):
        rows, width = batch.inputs.shape
        assert rows == 512 // width
        assert (batch.inputs[:, 0] == vocabulary["[CLS]"]).all()
        assert (batch.inputs[:, -1] == vocabulary["[SEP]"]).all()
        assert not (batch.inputs == vocabulary["[PAD]"]).any()


def test_pairs_have_two_segments_that_meet_at_the_first_sep(wordpiece: Corpora) -> None:
    batch = sampler(wordpiece).pairs(32, 512)
    separator = wordpiece[0].token_to_id("[SEP]")
    for ids, segments in zip(batch.inputs.tolist(), batch.segments.tolist(), strict=True):
        first = ids.index(separator)
        assert segments == [0] * (first + 1) + [1] * (len(ids) - first - 1)
        assert ids.count(separator) == 2


def test_half_of_the_second_texts_follow(wordpiece: Corpora) -> None:
    labels = torch.cat([batch.is_next for batch in sampler(wordpiece).groups(32, 2000, pairs=True)])  # type: ignore[misc]
    # More than half are random: nothing follows a document's last sentence.
    assert 0.45 < labels.float().mean() < 0.75


@pytest.mark.parametrize("rate", [0.15, 0.35])
def test_masking_chooses_its_share_of_the_ordinary_tokens(wordpiece: Corpora, rate: float) -> None:
    tokenizer = wordpiece[0]
    batch = sampler(wordpiece).pairs(64, 8192)
    masked = mask_tokens(batch, rate, tokenizer, torch.Generator().manual_seed(0))
    flat, shown = batch.inputs.flatten(), masked.inputs.flatten()
    assert (flat[masked.chosen] == masked.labels).all()
    rows, width = batch.inputs.shape
    assert len(masked.chosen) == len(set(masked.chosen.tolist())) == round(rate * rows * (width - 2))
    special = [tokenizer.token_to_id(t) for t in ("[CLS]", "[SEP]")]
    assert not torch.isin(masked.labels, torch.tensor(special)).any()
    untouched = torch.ones_like(flat, dtype=torch.bool).scatter(0, masked.chosen, False)
    assert (flat[untouched] == shown[untouched]).all()
    share = shown[masked.chosen].eq(tokenizer.get_vocab()["[MASK]"]).float().mean()
    assert 0.75 < share < 0.85  # Devlin et al. 2019, §3.1: 80 %


def test_all_chosen_can_be_masked(wordpiece: Corpora) -> None:
    batch: Batch = sampler(wordpiece).singles(32, 512)
    masked = mask_tokens(batch, 0.15, wordpiece[0], torch.Generator().manual_seed(0), keep=0, swap=0)
    assert masked.inputs.flatten()[masked.chosen].eq(wordpiece[0].get_vocab()["[MASK]"]).all()


def test_groups_cover_every_length_drawn(wordpiece: Corpora) -> None:
    groups = sampler(wordpiece).groups(32, 300, pairs=False)
    assert sum(len(batch.inputs) for batch in groups) == 300
    assert len({batch.inputs.shape[1] for batch in groups}) == len(groups) > 1


def test_text_windows_are_full_and_start_without_a_space(bpe: Corpora) -> None:
    tokenizer, (train, _) = bpe
    source = TextSampler(train, tokenizer, repeats=0.0, seed=0)
    for length in (16, 64):
        window = source.window(length)
        assert len(window) == length
        assert not tokenizer.decode(window, skip_special_tokens=False).startswith(" ")
    assert source.end in source.window(400)


def test_text_windows_can_repeat_their_beginning(bpe: Corpora) -> None:
    tokenizer, (train, _) = bpe
    window = TextSampler(train, tokenizer, repeats=1.0, seed=0).window(64)
    periods = [p for p in range(8, 33) if all(window[i] == window[i - p] for i in range(p, 64))]
    assert periods


def test_a_weight_of_nought_leaves_a_source_out(wordpiece: Corpora) -> None:
    tokenizer, (train, _) = wordpiece
    only = [replace(source, weight=float(index == 3)) for index, source in enumerate(SOURCES)]
    drawn = WindowSampler(train, only, tokenizer, seed=0)
    assert {int(train.source_of[drawn._sentence(drawn._any)]) for _ in range(100)} == {3}


def test_workers_draw_what_one_process_draws_each_from_its_own_seed(wordpiece: Corpora) -> None:
    def draws(worker: int) -> Iterator[Batch]:
        mine = sampler(wordpiece, worker)
        while True:
            yield mine.pairs(32, 512)

    here = [draws(0), draws(1)]
    for number, batch in enumerate(islice(endless(draws, workers=2), 6)):
        assert torch.equal(batch.inputs, next(here[number % 2]).inputs)
    assert torch.equal(next(endless(draws, workers=0)).inputs, next(draws(0)).inputs)


def test_batches_begin_anew_when_the_lengths_become_others() -> None:
    begun: list[tuple[int, int]] = []

    def sampler(seed: int, worker: int) -> Draw[float]:
        begun.append((seed, worker))
        return lambda lengths: seed + sum(lengths)

    short, long = {1: 1.0}, {10: 1.0}
    batches = Batches(sampler, workers=0)
    drawn = [batches.next(lengths, seed) for lengths, seed in ((short, 100), (short, 200), (long, 300), (short, 400))]
    assert drawn == [101, 101, 310, 401]
    assert begun == [(100, 0), (300, 0), (400, 0)]
