"""The comparison finds agreement where there is some, and names the first token where there is none."""

from __future__ import annotations

from dataclasses import replace

from tokenizers import Tokenizer

from lab.charts.tokens.token_tables import agreement_table
from lab.models.loading import EMBEDDED
from lab.text.tokenizers.explained import compare
from lab.text.tokenizers.wordpiece import wordpiece_steps

BERT = Tokenizer.from_file(str(EMBEDDED / "lab-bert" / "tokenizer.json"))
TEXT = "The unhappily rebuilt CAFÉ."


def test_the_steps_equal_the_library() -> None:
    found = compare(BERT, wordpiece_steps(BERT, TEXT))
    assert found.first_difference is None
    assert [row.library.text for row in found.rows if row.library] == BERT.encode(TEXT, add_special_tokens=False).tokens


def test_a_wrong_span_an_id_or_a_missing_token_is_found() -> None:
    steps = wordpiece_steps(BERT, TEXT)
    word = steps.words[1]
    for piece in (replace(word.pieces[2], span=(0, 1)), replace(word.pieces[2], token_id=0)):
        broken = replace(word, pieces=(*word.pieces[:2], piece, *word.pieces[3:]))
        changed = replace(steps, words=(steps.words[0], broken, *steps.words[2:]))
        assert compare(BERT, changed).first_difference == 3
    short = compare(BERT, replace(steps, words=steps.words[:-1]))
    assert short.first_difference == len(short.rows) - 1
    table = agreement_table(short)
    assert table["same"].tolist()[-1] is False
    assert table.iloc[-1]["token, steps"] == ""
    assert table.iloc[-1]["token, library"] == "."


def test_nothing_agrees_with_nothing() -> None:
    assert compare(BERT, wordpiece_steps(BERT, "")).first_difference is None
