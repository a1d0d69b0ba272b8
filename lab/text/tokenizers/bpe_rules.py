"""The parameters of a byte-level BPE tokenizer, read from the tokenizer itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import count

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors


@dataclass(frozen=True, slots=True)
class BpeRules:
    """The rules by which a byte-level BPE tokenizer cuts a text.

    Attributes
    ----------
    model
        The vocabulary.
    ranks
        The merges, (left, right) -> rank; 0 was learnt first and is applied first.
    add_prefix_space
        True if a space is added to each stretch between added tokens that does not begin with a space.
    use_regex
        True if GPT-2's regular expression cuts the text first.
    ignore_merges
        True if a pre-token that is in the vocabulary is taken whole.
    trims
        The ``add_prefix_space`` of each post-processor that trims white space off the offsets, in order; usually there
        is none or one.
    """

    model: models.BPE
    ranks: Mapping[tuple[str, str], int]
    add_prefix_space: bool
    use_regex: bool
    ignore_merges: bool
    trims: tuple[bool, ...]


def read_rules(tokenizer: Tokenizer) -> BpeRules:
    """Read the rules of a tokenizer built like GPT-2's, RoBERTa's or ModernBERT's.

    The merges are read only once for each tokenizer object, all other rules at each call. To change the
    merges, make a new tokenizer.

    Raises
    ------
    ValueError
        If a part of the tokenizer differs from these tokenizers; the message names the first such part.
    """
    model, pre_tokenizer = tokenizer.model, tokenizer.pre_tokenizer
    composes = isinstance(tokenizer.normalizer, normalizers.NFC)
    if not isinstance(model, models.BPE):
        raise ValueError(
            f"bpe_steps needs a BPE tokenizer, but this one is {type(model).__name__}. "
            "tokenization_steps chooses by model type."
        )
    if not isinstance(pre_tokenizer, pre_tokenizers.ByteLevel):
        raise ValueError(
            "bpe_steps explains byte-level BPE (the pre-tokenizer ByteLevel), but this tokenizer has "
            f"{type(pre_tokenizer).__name__}."
        )
    for name, value in (
        ("normalizer but NFC", None if composes else tokenizer.normalizer),
        ("dropout", model.dropout),
        ("continuing_subword_prefix", model.continuing_subword_prefix),
        ("end_of_word_suffix", model.end_of_word_suffix),
    ):
        if value:
            raise ValueError(
                f"bpe_steps explains GPT-2, RoBERTa and ModernBERT, which have no {name}; this one has {value!r}."
            )
    return BpeRules(
        model,
        _merge_ranks(tokenizer, tokenizer.get_vocab_size(with_added_tokens=False)),
        pre_tokenizer.add_prefix_space,
        pre_tokenizer.use_regex,
        model.ignore_merges,
        tuple(_trims(tokenizer.post_processor)),
    )


# Keep the merges of two tokenizers, because two models are loaded at a time; GPT-2's 50 000 merges take 10 MB.
@lru_cache(maxsize=2)
def _merge_ranks(tokenizer: Tokenizer, vocabulary_size: int) -> Mapping[tuple[str, str], int]:
    """Read the merges; ``vocabulary_size`` is part of the cache's key, so that a retrained tokenizer is read again."""
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return {(left, right): rank for rank, (left, right) in enumerate(merges)}


def _trims(processor: processors.PostProcessor | None) -> Iterator[bool]:
    if isinstance(processor, processors.Sequence):
        for part in _parts(processor):
            yield from _trims(part)
    elif not isinstance(processor, processors.ByteLevel | processors.RobertaProcessing):
        return
    elif processor.trim_offsets:
        yield processor.add_prefix_space


def _parts(sequence: processors.Sequence) -> Iterator[processors.PostProcessor]:
    for index in count():
        try:
            yield sequence[index]
        except IndexError:  # the sequence has no length, so this error marks its end
            return
