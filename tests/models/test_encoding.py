"""From text to tokens: what each token covers, what was cut, and what cannot be read."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.models.encoding import Encoding, TextError, encode
from lab.models.trace import trace
from tests.checkpoints import Family
from tests.models.conftest import HuggingFace, LabModel
from tests.models.reference import PAIR, SENTENCE, words

ANY_TEXT = st.text(max_size=40)
HARD_TEXTS = (
    "<script>alert('x')</script>", "🙂 👩‍👩‍👧 flags 🇫🇷", "مرحبا بالعالم", "שלום world", "naïve café Å e\u0301",
    "漢字かな", "don't they're", "a\x00b", "[CLS] [SEP] [MASK] [PAD]", "tab\tnew\nline", "x" * 300,
    "\u200bzero\ufeff width", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𐍈", "<|endoftext|> <s> </s>",
)  # fmt: skip


def _encode(lab_model: LabModel, family: Family, text: str, pair: str | None = None) -> Encoding:
    model = lab_model(family)
    return encode(model.tokenizer, model.config, text, pair)


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\u00a0\u2003"])
def test_no_text_is_a_sentence_of_help(lab_model: LabModel, family: Family, text: str) -> None:
    with pytest.raises(TextError, match=r"There is no text yet\. Type a sentence"):
        trace(lab_model(family), text)
    with pytest.raises(TextError, match="There is no text yet"):
        trace(lab_model(family), text, PAIR)


@pytest.mark.parametrize("text", ["\x00", "\x00 \x07", "\ufffd", "\ud800"])
@pytest.mark.parametrize("family", ["bert", "distilbert", "electra"])
def test_text_the_tokenizer_drops_is_a_sentence_of_help(lab_model: LabModel, family: Family, text: str) -> None:
    with pytest.raises(TextError, match="holds no characters the tokenizer keeps"):
        trace(lab_model(family), text)


@pytest.mark.parametrize("pair", ["", "  ", "\n"])
def test_a_second_sentence_of_spaces_is_none(lab_model: LabModel, family: Family, pair: str) -> None:
    assert _encode(lab_model, family, SENTENCE, pair) == _encode(lab_model, family, SENTENCE)


def test_half_a_character_becomes_the_replacement_character(lab_model: LabModel, family: Family) -> None:
    encoding = _encode(lab_model, family, "cat \ud83d sat", "b \udc00")
    assert (encoding.text, encoding.pair) == ("cat \ufffd sat", "b \ufffd")
    # Two halves, as JavaScript counts them, are one character.
    assert _encode(lab_model, family, "cat \ud83d\ude42 sat").text == "cat 🙂 sat"


@pytest.mark.parametrize("text", HARD_TEXTS)
def test_tokens_are_hugging_faces(lab_model: LabModel, hugging_face: HuggingFace, family: Family, text: str) -> None:
    theirs = hugging_face(family).tokenize
    for pair in (None, text):
        encoding, expected = _encode(lab_model, family, text, pair), theirs(text, pair, truncation=True)
        assert list(encoding.token_ids) == expected["input_ids"]
        assert list(encoding.tokens) == theirs.convert_ids_to_tokens(expected["input_ids"])  # type: ignore[attr-defined]
    assert len(trace(lab_model(family), text)) >= 1


def test_a_lone_mask_is_a_token_of_the_text(lab_model: LabModel) -> None:
    encoding = _encode(lab_model, "bert", "[MASK]")
    assert encoding.tokens == ("[CLS]", "[MASK]", "[SEP]")
    assert encoding.special == (True, False, True)
    assert encoding.offsets[1] == (0, 6)


def _flags(flags: tuple[bool, ...] | tuple[int, ...]) -> str:
    return "".join(str(int(flag)) for flag in flags)


def test_bert_marks_the_sides_of_a_pair_by_segments(lab_model: LabModel) -> None:
    encoding = _encode(lab_model, "bert", "The cat", "the dog.")
    assert " ".join(encoding.tokens) == "[CLS] the cat [SEP] the dog . [SEP]"
    assert _flags(encoding.special) == "10010001"
    assert _flags(encoding.in_pair) == "00001110", "a separator belongs to neither"
    assert _flags(encoding.segment_ids) == "00001111"
    assert encoding.offsets == ((0, 0), (0, 3), (4, 7), (0, 0), (0, 3), (4, 7), (7, 8), (0, 0))


def test_roberta_separates_twice_and_has_one_segment(lab_model: LabModel) -> None:
    encoding = _encode(lab_model, "roberta", "cat", "dog")
    n, first = len(encoding), encoding.tokens.index("</s>")
    assert [i for i in range(n) if encoding.special[i]] == [0, first, first + 1, n - 1]
    assert [i for i in range(n) if encoding.in_pair[i]] == list(range(first + 2, n - 1))
    assert set(encoding.segment_ids) == {0}


def test_gpt2_reads_on_without_a_separator(lab_model: LabModel) -> None:
    encoding, alone = _encode(lab_model, "gpt2", "cat", "dog"), _encode(lab_model, "gpt2", "cat")
    assert encoding.tokens[: len(alone)] == alone.tokens and not any(encoding.special)
    assert list(encoding.in_pair) == [i >= len(alone) for i in range(len(encoding))]


@settings(max_examples=60)
@given(text=ANY_TEXT, pair=st.none() | ANY_TEXT)
def test_everything_has_one_entry_a_token_and_lies_in_its_text(
    lab_model: LabModel, family: Family, text: str, pair: str | None
) -> None:
    try:
        encoding = _encode(lab_model, family, text, pair)
    except TextError:
        return
    n = len(encoding.tokens)
    assert encoding.cut == 0 and n >= 1 and encoding.text == text
    assert len(encoding.token_ids) == len(encoding.segment_ids) == n
    for (start, end), word, second, special in zip(
        encoding.offsets, encoding.word_ids, encoding.in_pair, encoding.special, strict=True
    ):
        own = encoding.pair if second else encoding.text
        assert own is not None and 0 <= start <= end <= len(own)
        assert special == (word is None)
        if special:
            assert (start, end) == (0, 0) and not second


def _plain(text: str) -> str:
    """Lower case, no accents, no control characters: what an uncased BERT reads."""
    kept = unicodedata.normalize("NFD", text.lower())
    return "".join(c for c in kept if unicodedata.category(c) not in ("Mn", "Cc", "Cf"))


@settings(max_examples=60)
@given(text=st.text("the cat sàÉñ.,'!-éè🙂 Ab", min_size=1), pair=st.none() | st.text("dog, Ünï", min_size=1))
@pytest.mark.parametrize("family", ["bert", "distilbert", "electra"])
def test_offsets_name_the_characters_of_a_piece(
    lab_model: LabModel, family: Family, text: str, pair: str | None
) -> None:
    if not text.strip():
        return
    encoding = _encode(lab_model, family, text, pair)
    for token, (start, end), second, special in zip(
        encoding.tokens, encoding.offsets, encoding.in_pair, encoding.special, strict=True
    ):
        if special or token == "[UNK]":
            continue
        own = encoding.pair if second else encoding.text
        assert own is not None and _plain(own[start:end]) == token.removeprefix("##")


def _bytes_to_characters() -> dict[str, int]:
    """GPT-2's printable stand-ins for the 256 bytes (Radford et al. 2019, ``bytes_to_unicode``)."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printable]
    return {**{chr(b): b for b in printable}, **{chr(256 + i): b for i, b in enumerate(others)}}


@settings(max_examples=60)
@given(text=st.text(min_size=1, max_size=30).filter(lambda text: "<" not in text))
@pytest.mark.parametrize("family", ["gpt2", "roberta"])
def test_byte_tokens_spell_the_text(lab_model: LabModel, family: Family, text: str) -> None:
    if not text.strip():
        return
    encoding, spelled, byte = _encode(lab_model, family, text), b"", _bytes_to_characters()
    for token, (start, end), special in zip(encoding.tokens, encoding.offsets, encoding.special, strict=True):
        if not special:
            piece = bytes(byte[character] for character in token)
            spelled += piece
            assert piece.strip() in encoding.text[start:end].encode()
    assert spelled == encoding.text.encode()


@pytest.mark.parametrize("pair", [None, PAIR, words(600)])
def test_the_cut_is_counted(lab_model: LabModel, hugging_face: HuggingFace, family: Family, pair: str | None) -> None:
    theirs, text = hugging_face(family).tokenize, words(700)
    encoding = _encode(lab_model, family, text, pair)
    # verbose=False: the warning about the length is the point here.
    whole = theirs(text, pair, verbose=False)["input_ids"]
    assert len(encoding) == 512 and encoding.cut == len(whole) - 512
    assert list(encoding.token_ids) == theirs(text, pair, truncation="longest_first", max_length=512)["input_ids"]
    assert sum(encoding.special) == sum(_encode(lab_model, family, "cat", pair and "dog").special)
    if pair == PAIR:
        assert encoding.offsets[[*encoding.in_pair].index(True)][0] == 0
        covered = max(end for (_, end), second in zip(encoding.offsets, encoding.in_pair, strict=True) if second)
        assert covered == len(PAIR), "the longer side is cut, the pair stays whole"


def test_the_shared_tokenizer_is_never_changed(lab_model: LabModel, family: Family) -> None:
    tokenizer = lab_model(family).tokenizer
    before = tokenizer.to_str()
    for text, pair in ((words(700), None), (SENTENCE, words(900)), ("cat", None)):
        _encode(lab_model, family, text, pair)
    assert tokenizer.to_str() == before
    assert tokenizer.truncation is None and tokenizer.padding is None
