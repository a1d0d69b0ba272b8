"""The Punkt parameters that ship: they beat the untrained tokenizer, know abbreviations, and need no download."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lab.text.sentences.punkt import EMBEDDED, load_parameters
from lab.text.sentences.split import sentence_spans
from training.evaluation.punkt import TWO, WHOLE, documents, evaluate, mistakes, score

ROOT = Path(__file__).parents[2]
NAMES = ("abbrev_types.txt", "collocations.tab", "sent_starters.txt", "ortho_context.tab")


@cache
def figures() -> dict[str, Any]:
    return evaluate()


def test_it_finds_clearly_more_than_the_untrained_tokenizer() -> None:
    for unit, margin in (("paragraphs", 0.02), ("documents", 0.013), ("gum", 0.005)):
        ours, untrained = figures()[unit]["ours"], figures()[unit]["untrained"]
        assert ours["f1"] > untrained["f1"] + margin
        assert ours["precision"] > untrained["precision"] + 0.02
        assert ours["recall"] > untrained["recall"]
    # What is learned helps without the lab's own rules too.
    assert figures()["paragraphs"]["parameters_only"]["f1"] > figures()["paragraphs"]["untrained"]["f1"] + 0.01


def test_the_boundaries_of_the_held_out_text_are_all_counted() -> None:
    # UD English EWT 2.16, dev part: 2,001 sentences (its README), 318 documents.
    found = documents()
    assert len(found) == 318
    assert sum(len(paragraph) for document in found for paragraph in document) == 2001
    scores = figures()
    assert scores["documents"]["ours"]["gold"] == 2001 - 318
    assert scores["paragraphs"]["ours"]["gold"] == 2001 - sum(map(len, found))


def test_a_score_counts_what_is_right_wrong_and_missing() -> None:
    texts = [("One. Two.", "Three"), ("Four", "five.")]

    def at_full_stops(text: str) -> list[tuple[int, int]]:
        ends = [position + 1 for position, character in enumerate(text) if character == "."]
        return list(zip([0, *ends], [*ends, len(text)], strict=True))

    # "One.|Two.|Three" has a boundary too many, "Four five.|" ends at the end and misses the one inside.
    found = score(at_full_stops, texts)
    assert (found.gold, found.predicted, found.right) == (2, 3, 1)
    assert (found.precision, found.recall, found.f1) == pytest.approx((1 / 3, 1 / 2, 2 / 5))
    wrong = list(mistakes(at_full_stops, texts[:1]))
    assert [(m.invented, m.before, m.after) for m in wrong] == [(True, "One.", "Two. Three")]


@pytest.mark.parametrize("sentence", WHOLE)
def test_an_abbreviation_ends_no_sentence(sentence: str) -> None:
    assert sentence_spans(sentence) == ((0, len(sentence)),)


@pytest.mark.parametrize("sentences", TWO)
def test_a_real_end_is_found(sentences: str) -> None:
    text = sentences.replace("|", " ")
    assert [text[start:end] for start, end in sentence_spans(text)] == sentences.split("|")


def test_the_files_are_small_sorted_and_read_in_a_moment() -> None:
    assert sum(path.stat().st_size for path in EMBEDDED.iterdir()) <= 1_000_000
    for name in NAMES:
        lines = (EMBEDDED / name).read_text(encoding="utf-8").removesuffix("\n").split("\n")
        assert lines == sorted(set(lines), key=lambda line: line.split("\t")) != []
    started = time.process_time()
    parameters = load_parameters()
    assert time.process_time() - started < 1
    assert {"dr", "mr", "mrs", "u.s", "e.g", "p.m"} <= parameters.abbrev_types


def test_the_format_is_the_one_nltk_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NLTK's own loader, by the way its download would take, gives the same parameters."""
    import nltk
    from nltk.tokenize import PunktTokenizer

    folder = tmp_path / "tokenizers" / "punkt_tab" / "english"
    folder.mkdir(parents=True)
    for name in NAMES:
        (folder / name).write_bytes((EMBEDDED / name).read_bytes())
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    theirs, ours = PunktTokenizer()._params, load_parameters()
    for name in ("abbrev_types", "collocations", "sent_starters", "ortho_context"):
        assert getattr(theirs, name) == getattr(ours, name)


def test_neither_the_network_nor_nltk_s_data_is_touched(tmp_path: Path) -> None:
    code = """
import socket, sys
def refuse(*arguments): raise AssertionError("network")
socket.socket.connect = socket.getaddrinfo = refuse
import nltk
nltk.data.path[:] = [sys.argv[1]]
nltk.data.find = nltk.data.load = nltk.download = refuse
from lab.text.sentences.split import sentence_spans
print(len(sentence_spans("Dr. Smith came. He left.")))
"""
    environment = {**os.environ, "NLTK_DATA": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == 2
    assert list(tmp_path.iterdir()) == []


def test_the_card_quotes_what_is_measured() -> None:
    text = (EMBEDDED / "MODEL_CARD.md").read_text(encoding="utf-8")
    for unit in ("paragraphs", "documents", "gum"):
        for scores in figures()[unit].values():
            row = f"{100 * scores['precision']:.1f} % | {100 * scores['recall']:.1f} % | **{100 * scores['f1']:.1f} %**"
            assert row in text
