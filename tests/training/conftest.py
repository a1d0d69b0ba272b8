"""Corpora and tokenizers that the tests of ``training/`` share."""

from __future__ import annotations

from pathlib import Path

import pytest
from tokenizers import Tokenizer

from tests.training.corpora import write_corpora
from training.corpus import TokenCorpus, token_corpus
from training.vocabulary import bpe_tokenizer, wordpiece_tokenizer

Corpora = tuple[Tokenizer, tuple[TokenCorpus, TokenCorpus]]


@pytest.fixture(scope="session")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpora(tmp_path_factory.mktemp("corpora"))


@pytest.fixture(scope="session")
def wordpiece(corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> Corpora:
    work = tmp_path_factory.mktemp("bert")
    tokenizer = wordpiece_tokenizer(corpora, work / "tokenizer.json", 300)
    return tokenizer, token_corpus(corpora, tokenizer, work / "tokens.npz")


@pytest.fixture(scope="session")
def bpe(corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> Corpora:
    work = tmp_path_factory.mktemp("gpt2")
    tokenizer = bpe_tokenizer(corpora, work / "tokenizer.json", 400)
    return tokenizer, token_corpus(corpora, tokenizer, work / "tokens.npz", before_sentence=" ")
