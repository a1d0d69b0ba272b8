"""The bundled sentences: as many as promised, short, varied, with their sources named."""

from __future__ import annotations

import re

import pytest

from lab.text.bundled import SENTENCES, bundled_sentences
from lab.text.sentences.split import sentence_spans


def test_two_hundred_different_short_texts() -> None:
    texts = bundled_sentences()
    assert len(texts) == len(set(texts)) == 200
    assert all(text == text.strip() and text.isascii() and 2 <= len(text.split()) <= 30 for text in texts)


@pytest.mark.parametrize(
    ("kind", "pattern", "least"),
    [
        ("questions", r"\?$", 20),
        ("digits", r"\d", 12),
        ("months, days and years", r"\b(\d{4}|[A-Z][a-z]+(day|uary|ember|tober)|March|April|May|July)\b", 15),
        ("negation", r"\b(not|no|never|neither|nobody|cannot|nothing)\b|n't", 20),
        ("quotations", r'"', 15),
        ("names inside a sentence", r"(?<=[a-z,] )[A-Z][a-z]{2,}", 40),
        ("conditions and relatives", r"\b(if|If|unless|while|when|which)\b", 15),
    ],
)
def test_they_are_varied(kind: str, pattern: str, least: int) -> None:
    assert sum(bool(re.search(pattern, text)) for text in bundled_sentences()) >= least, kind


def test_the_last_fourteen_hold_two_sentences_each() -> None:
    two = [len(sentence_spans(text)) == 2 for text in bundled_sentences()]
    assert two[-14:] == [True] * 14


def test_every_source_is_named_with_its_licence() -> None:
    comments = [line for line in SENTENCES.read_text("utf-8").splitlines() if line.startswith("#")]
    said = " ".join(comments)
    assert said.count("github.com/") == said.count("commit") == 3
    assert "CC0 1.0" in said and said.count("public domain") == 2
    assert comments[0] == SENTENCES.read_text("utf-8").splitlines()[0]
