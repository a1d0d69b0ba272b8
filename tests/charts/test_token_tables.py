"""Tables and chips of the tokenization lesson: nothing of the input is lost in them."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from lab.charts.base.chart_table import to_csv
from lab.charts.tokens import token_tables
from lab.charts.tokens.token_chips import encoding_chips, pre_token_chips
from lab.models.encoding import Encoding, encode
from lab.models.loading import EMBEDDED
from lab.text.tokenizers.bpe import bpe_steps
from lab.text.tokenizers.explained import tokenization_steps
from lab.text.tokenizers.wordpiece import wordpiece_steps
from tests.conftest import TinyCheckpoint

BERT = Tokenizer.from_file(str(EMBEDDED / "lab-bert" / "tokenizer.json"))


@pytest.fixture(scope="module", params=["gpt2", "roberta"])
def byte_level(request: pytest.FixtureRequest, tiny_checkpoint: TinyCheckpoint) -> Tokenizer:
    return Tokenizer.from_file(str(tiny_checkpoint(request.param) / "tokenizer.json"))


def read(tokenizer: Tokenizer, text: str, pair: str = "", most: int = 512) -> Encoding:
    return encode(tokenizer, SimpleNamespace(max_tokens=most, from_end=False), text, pair or None)  # type: ignore[arg-type]


def test_the_token_table_says_where_each_token_stands() -> None:
    table = token_tables.token_table(read(BERT, "The cat.", "Birds"))
    assert table.index.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert table["token"].tolist() == ["[CLS]", "the", "cat", ".", "[SEP]", "birds", "[SEP]"]
    assert table["characters"].tolist() == ["", "The", "cat", ".", "", "Birds", ""]
    assert table["segment"].tolist() == [0, 0, 0, 0, 0, 1, 1]
    assert table["start"].isna().tolist() == table["added by the model"].tolist()
    assert table.loc[3, "end"] == 7
    assert to_csv(table).decode("utf-8-sig").startswith("token no.,token,id,segment,")


@pytest.mark.parametrize("most", [512, 6])
def test_chips_of_a_pair_join_to_both_texts_and_hold_every_token_once(most: int) -> None:
    encoding = read(BERT, "The unhappily cat.", "Two birds fly.", most)
    chips = encoding_chips(encoding)
    assert "".join(run for run, _, _ in chips) == encoding.text + (encoding.pair or "")
    assert [token for _, tokens, _ in chips for token in tokens] == list(range(len(encoding)))
    assert [label for run, _, label in chips if not run] == ["[CLS]", "[SEP]", "[SEP]"]


@given(st.text(max_size=12), st.text(max_size=12))
def test_chips_lose_no_character_and_no_token(byte_level: Tokenizer, text: str, pair: str) -> None:
    for tokenizer in (BERT, byte_level):
        if not text.strip() or 0 not in tokenizer.encode(text).sequence_ids:
            continue
        encoding = read(tokenizer, text, pair)
        chips = encoding_chips(encoding)
        assert "".join(run for run, _, _ in chips) == encoding.text + (encoding.pair or "")
        assert {token for _, tokens, _ in chips for token in tokens} == set(range(len(encoding)))
        assert len(token_tables.token_table(encoding)) == len(encoding)
        steps = tokenization_steps(tokenizer, text)
        assert "".join(run for run, _, _ in pre_token_chips(steps)) == text
        assert len(token_tables.pre_token_table(steps)) == len(steps.words)


def test_a_pre_token_is_labelled_with_what_normalization_made_of_it() -> None:
    assert pre_token_chips(wordpiece_steps(BERT, "Ah, CAFÉ")) == [
        ("Ah", (0,), "ah"),
        (",", (1,), ","),
        (" ", (), None),
        ("CAFÉ", (2,), "cafe"),
    ]


def stage_changes(text: str) -> dict[str, list[token_tables.Change]]:
    spans = tuple((i, i + 1) for i in range(len(text)))
    found: dict[str, list[token_tables.Change]] = {}
    for stage in wordpiece_steps(BERT, text).stages:
        found[stage.name] = token_tables.changes(stage.before, spans, stage.after, stage.spans)
        spans = stage.spans
    return found


def test_each_stage_lists_what_it_changed_the_most_frequent_first() -> None:
    found = stage_changes("ÉTÉ\u200d日")
    assert found["clean_text"] == [token_tables.Change("\u200d", "", 1)]
    assert found["handle_chinese_chars"] == [token_tables.Change("日", " 日 ", 1)]
    assert found["strip_accents"] == [token_tables.Change("É", "E", 2)]
    assert found["lowercase"] == [token_tables.Change("E", "e", 2), token_tables.Change("T", "t", 1)]


def test_no_change_is_an_empty_table() -> None:
    assert all(not found for found in stage_changes("the cat").values())
    assert token_tables.change_table([]).empty


def test_what_cannot_be_seen_is_named() -> None:
    table = token_tables.change_table([token_tables.Change("\u200d", "", 3), token_tables.Change("\x00", "", 1)])
    assert table["before"].tolist() == ["zero width joiner", "U+0000"]
    assert table["after"].tolist() == ["nothing", "nothing"]


@given(st.text(max_size=20))
def test_a_stage_that_changed_the_text_has_changes_to_show(text: str) -> None:
    spans = tuple((i, i + 1) for i in range(len(text)))
    for stage in wordpiece_steps(BERT, text).stages:
        if not token_tables.changes(stage.before, spans, stage.after, stage.spans):
            assert stage.before == stage.after
        spans = stage.spans


def test_lookups_and_merges_as_tables(byte_level: Tokenizer) -> None:
    table = token_tables.lookup_table(wordpiece_steps(BERT, "photographers").words[0])
    assert table["found"].tolist() == [False, False, False, True, True]
    assert (
        table["id"].tolist()[3:] == [BERT.token_to_id("photograph"), BERT.token_to_id("##ers")]
        and table["id"].isna().sum() == 3
    )
    word = bpe_steps(byte_level, "The").words[0]
    assert token_tables.merge_table(word)["symbols after it"].tolist()[-1] == " ".join(p.token for p in word.pieces)


def test_the_states_of_a_huge_word_are_left_out(byte_level: Tokenizer) -> None:
    assert "symbols after it" not in token_tables.merge_table(bpe_steps(byte_level, "the" * 200).words[0])


def test_bytes_and_their_signs() -> None:
    table = token_tables.character_bytes_table(" é")
    assert table["UTF-8 bytes"].tolist() == ["20", "C3 A9"]
    assert table["signs"].tolist() == ["Ġ", "Ã ©"]
    signs = token_tables.byte_table()
    assert signs["sign"].nunique() == 256
    assert signs.loc[65].tolist() == ["41", "A", "A"]
    assert isinstance(signs, pd.DataFrame)
