"""The vocabularies of ``lab-bert`` and ``lab-gpt2``, learned from the same corpora as their weights."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from training.corpus import split

SPECIAL_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
END_OF_TEXT = "<|endoftext|>"


def _training_lines(folder: Path) -> Iterator[str]:
    for _, document in split(folder)[0]:
        yield from document.splitlines()


def wordpiece_tokenizer(folder: Path, path: Path, size: int) -> Tokenizer:
    """Load the tokenizer at ``path``, or learn one of ``size`` pieces from ``folder`` and save it.

    Same pipeline as BERT uncased (Devlin et al. 2019, appendix A.2): clean, lower-case, strip
    accents, split on white space and punctuation, then WordPiece.
    """
    if path.exists():
        return Tokenizer.from_file(str(path))
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    # A small alphabet leaves room for words; characters outside it become [UNK], as they should.
    trainer = trainers.WordPieceTrainer(
        vocab_size=size,
        min_frequency=2,
        limit_alphabet=200,
        special_tokens=SPECIAL_TOKENS,
        show_progress=False,
    )
    tokenizer.train_from_iterator(_training_lines(folder), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", tokenizer.token_to_id("[CLS]")), ("[SEP]", tokenizer.token_to_id("[SEP]"))],
    )
    tokenizer.save(str(path))
    return tokenizer


def bpe_tokenizer(folder: Path, path: Path, size: int) -> Tokenizer:
    """Load the tokenizer at ``path``, or learn byte-level BPE of ``size`` tokens from ``folder`` and save it.

    Same pipeline as GPT-2 (Radford et al. 2019, §2.2): no normalization, words with the space before
    them, bytes as the alphabet, so that nothing is unknown.
    """
    if path.exists():
        return Tokenizer.from_file(str(path))
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[END_OF_TEXT],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_training_lines(folder), trainer)
    tokenizer.save(str(path))
    return tokenizer
