"""Tokenizers built here and texts made to trip them, shared by the tests of ``lab.text``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

from lab.text.tokenizers.explained import TokenizationSteps

CORPUS = [
    "the quick brown fox jumps over the lazy dog's tail, we'll see 123 45 things",
    "unbelievable unaffordable re-doing things isn't <mask> ok Café naïve ΑΒΓ straße",
    "你好 世界 istanbul 🙂 THE QUICK BROWN FOX",
] * 4

EMBEDDED = Path(__file__).parents[2] / "lab/models/embedded"

BERT_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
GPT_SPECIAL = ["<s>", "</s>", "<unk>", "<|endoftext|>"]

FRAGMENTS = [
    *BERT_SPECIAL,
    *GPT_SPECIAL,
    *["<mask>", "[mask]", "foo", "Foo", "FOO", "foo bar", "word", "café", "CAFÉ", "cafe\u0301", "é"],
    *[" ", "  ", "\t", "\n", "\r\n", "\x0b", "\x1c", "\x85", "\u00a0", "\u2028", "\u3000", "\u200b", "\ufeff"],
    *["\x00", "\x7f", "\ufffd", "\ue000", "\u0378", "\u200d", "\u202e"],
    *["the", "quick", "unbelievable", "'s", "'ll", "'S", "n't", "123", "²", "½", "٣", "_", "!", "…", "¿"],
    *["你", "好", "𠮷", "\U0002b820", "か", "가", "\u1100\u1161", "ﷺ", "שלום", "مرحبا", "हिन्दी"],
    *["İ", "ß", "ΑΣ", "ǆ", "Å", "ộ", "\u0301", "\u0323", "\u0334", "\u0344", "\u0345", "\u0f73", "\u302e"],
    *["👩\u200d👩\u200d👧", "🇩🇪", "👍🏽", "🙂", "x" * 99, "x" * 101, "the" * 40],
    *["\u166d", "\u2e52", "\U00010eab", "\U00011938", "\U00011f02", "\U0001d165"],
]

anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
marks = st.text(st.characters(categories=["Mn", "Mc", "Me"]), max_size=4)
texts = st.lists(st.sampled_from(FRAGMENTS) | anything | marks, max_size=14).map("".join)


@lru_cache
def wordpiece(
    clean_text: bool = True,
    handle_chinese_chars: bool = True,
    strip_accents: bool | None = None,
    lowercase: bool = True,
) -> Tokenizer:
    """A small WordPiece tokenizer with BERT's normalizer in the given setting."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(
        clean_text=clean_text,
        handle_chinese_chars=handle_chinese_chars,
        strip_accents=strip_accents,
        lowercase=lowercase,
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=320, special_tokens=BERT_SPECIAL, show_progress=False)
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


@lru_cache
def byte_level(add_prefix_space: bool = False, use_regex: bool = True, ignore_merges: bool = False) -> Tokenizer:
    """A small byte-level BPE tokenizer, without post-processor."""
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space, use_regex=use_regex)
    trainer = trainers.BpeTrainer(
        vocab_size=440,
        special_tokens=GPT_SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def changed(
    tokenizer: Tokenizer,
    *,
    added: Sequence[AddedToken] = (),
    post_processor: processors.PostProcessor | None = None,
    encode_special_tokens: bool = False,
) -> Tokenizer:
    """A copy of the tokenizer with added tokens and another post-processor."""
    copy = Tokenizer.from_str(tokenizer.to_str())
    copy.add_tokens(list(added))
    if post_processor is not None:
        copy.post_processor = post_processor
    copy.encode_special_tokens = encode_special_tokens
    return copy


def assert_same(tokenizer: Tokenizer, steps: TokenizationSteps) -> None:
    """The steps end where the library does: tokens, ids, offsets and word ids, exactly."""
    expected = tokenizer.encode(steps.text, add_special_tokens=False)
    assert list(steps.tokens) == expected.tokens
    assert list(steps.token_ids) == expected.ids
    assert list(steps.offsets) == expected.offsets
    assert list(steps.word_ids) == expected.word_ids
