"""Sentences: every character in exactly one or white space, ends where a reader puts them, in every script."""

from __future__ import annotations

import re
import shutil
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.text.sentences import punkt
from lab.text.sentences.split import sentence_of_tokens, sentence_spans
from lab.text.sentences.unavailable import SentencesUnavailable
from lab.text.tokenizers.bpe import bpe_steps
from lab.text.tokenizers.wordpiece import wordpiece_steps
from tests.text.samples import byte_level, texts, wordpiece

# Marks, quotes and line breaks far more often than chance would have them; surrogates and NUL too.
anything = st.one_of(
    st.text(max_size=40),
    st.text(alphabet="ab A.?!…。！؟\"'”)( \n\r\t\x00\ud800👍5-", max_size=40),
)


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@given(anything)
def test_sentences_are_the_text_without_the_white_space_between_them(text: str) -> None:
    spans = sentence_spans(text)
    assert "".join("".join(cut(text)).split()) == "".join(text.split())
    assert list(spans) == sorted(spans)
    for start, end in spans:
        assert text[start:end] == text[start:end].strip() != ""
    for (_, end), (start, _) in pairwise(spans):
        assert end <= start
        assert text[end:start].strip() == ""


@given(anything)
def test_no_sentence_reaches_beyond_a_blank_line(text: str) -> None:
    for sentence in cut(text):
        assert not re.search(r"\n[ \t]*\n|\r\r|\r\n[ \t]*\r\n", sentence)


@pytest.mark.parametrize(
    "sentences",
    [
        ["The cat sat down.", "It was tired."],
        ["“Where is Dr. Smith?”", "Nobody knew."],
        ["Really?!", "Yes!!!", "(It is true.)", "Well."],
        ["He paused. . . .", "And then he left."],
        ["no punctuation at all"],
        ["هل أنت بخير؟", "نعم أنا بخير.", "شكرا"],
        ["I like it 👍!", "👍 is a thumb.", "😀"],
        ["a\x00b is here.", "The half \ud83d is here.", "End"],
    ],
)
def test_sentences_stand_where_a_reader_puts_them(sentences: list[str]) -> None:
    assert cut(" ".join(sentences)) == sentences
    assert cut("\n" + "\n".join(sentences) + "  ") == sentences


@pytest.mark.parametrize(
    "sentence",
    [
        # Short words before names and numbers.
        "Smith et al. found it.",
        "Jones et al. (2019) agree.",
        "See fig. 3 for more.",
        "Figs. 3 and 4 show it.",
        "In eq. 2 it is a sum.",
        "As Sec. 4.1 says, it is.",
        "Chap. IV is short.",
        "Read pp. 3–5 of it.",
        "It is in App. B of the book.",
        "The old route is Hwy. 61 there.",
        "We met Sen. Long and Capt. Cook.",
        "She lives in Ft. Worth with Rev. Green.",
        "Thm. 2 follows.",
        "On Mon. 5 May it rained.",
        "He is 6 ft. tall.",
        "She works for the F.B.I. in Texas.",
        "Smith & Sons Ltd. is old.",
        "Louis XIV. was king.",
        # Quotations inside a sentence.
        "He said “Go away.” and left.",
        'He said "Go away." and left.',
        "He said 'Go away!' and left.",
        "He said ‘Go away?’ and left.",
        "He said «Go away.» and left.",
        "He said „Go away.“ and left.",
        "He said ``Go away.'' and left.",
        "“Where to?” he asked.",
        '"Stop!" John Smith cried.',
        "“Stop!” I said.",
        "He ran (fast!) to us.",
        "“Go!”, he said.",
        '"Why?", "How?" and "When?" are words.',
        # Numbers of lists.
        "1.) Wash the rice.",
        "1. First",
        "12. Twelfth we rest.",
        "2.1. Then we rest.",
        "(2). Second we rest.",
        "a) First we rest.",
        "b. Second we rest.",
        "iv. Fourth we rest.",
        "II. The rest",
        "Buy these: 1. Milk 2. Eggs 3. Bread",
        # Spaced dots.
        ". . .",
        ". . . and so on.",
        "Wait . . . what is it?",
        "She . . . left.",
        "Well . . . . maybe.",
        "P.S. I love you.",
    ],
)
def test_a_mark_inside_a_sentence_does_not_end_it(sentence: str) -> None:
    assert cut(sentence) == [sentence]
    if sentence[0] not in ".I":  # there, it could be the dots of the sentence before, or the word I
        assert cut(f"The cat sat down. {sentence}") == ["The cat sat down.", sentence]


@pytest.mark.parametrize(
    "sentences",
    [
        ["1. Wash the rice.", "2. Cook the rice.", "10. Eat."],
        ["a. Wash the rice.", "b. Cook it."],
        ["i. Wash the rice.", "ii. Cook it."],
        ["How many?", "3.", "That is enough."],
        ["Who did it?", "I.", "It was fun."],
        ["It was 1999.", "The war had ended."],
        ["It grew to 12.", "Then it fell."],
        ["He said “Go away.”", "Then he left."],
        ["“Go away!”", "The door closed."],
        ["He ate a fig.", "It was good."],
        ["This is a book of art.", "The men like it."],
        ["It was written by Smith et al.", "The book is long."],
        ["He saw the doctor on Elm Dr.", "The house is old."],
        ["See fig. 3.", "Then see pp. 4–5."],
        ["It was a gen.", "He knew it."],
        ["He paused . . .", "And then he left."],
        # Names with a mark, German numbers and months.
        ["Yahoo! is a firm.", "It is old."],
        ["He works for Yahoo! in Texas.", "He likes it."],
        ["Do you like Yahoo!", "I do."],
        ["Happy Birthday!", "hope you are well."],
        ["Wir sehen uns am 3. Mai.", "Dann gehen wir."],
        ["Der 3. Oktober ist frei.", "Am 24. Dezember auch."],
        ["Sie kommt am 1. April 2026.", "Er nicht."],
        ["Im 19. Jahrhundert war es so.", "Heute nicht."],
        ["I am 3.", "May is 4."],
        ["There were 12.", "April came."],
        # Notes.
        ["It was dark.1", "Then it rained."],
        ["The war.12", "“Why?” she asked."],
        ["It was dark.[2]", "Then it rained."],
        ["It was dark.²", "Then it rained."],
        ["“It was dark.”3", "Then it rained."],
        ["See fig.3 The Cat and version 2.1 Next for more.", "It is good."],
    ],
)
def test_an_end_stays_an_end_beside_numbers_quotations_and_short_words(sentences: list[str]) -> None:
    assert cut(" ".join(sentences)) == sentences


@pytest.mark.parametrize("dots", ["...", ". . .", ".\u00a0.\u00a0.", ". . . ."])
@pytest.mark.parametrize("following", ["and then he left.", "And then he left.", "Tom left."])
def test_dots_with_spaces_are_the_dots_without_them(dots: str, following: str) -> None:
    assert len(cut(f"He paused {dots} {following}")) == len(cut(f"He paused ... {following}"))


def test_full_width_marks_need_no_space() -> None:
    assert cut("今天很好。明天下雨！「好。」他说。") == ["今天很好。", "明天下雨！", "「好。」", "他说。"]
    assert cut("本当？！はい。") == ["本当？！", "はい。"]


@pytest.mark.parametrize("gap", ["\n\n", "\n \t\n", "\r\n\r\n", "\r\r", "\u2029"])
def test_a_blank_line_ends_a_sentence_and_one_line_break_does_not(gap: str) -> None:
    assert cut(f"A heading{gap}the text\nruns\r\non") == ["A heading", "the text\nruns\r\non"]


@pytest.mark.parametrize("text", ["", " ", "\n\n\n", "\t\u00a0\u2029"])
def test_no_text_has_no_sentence(text: str) -> None:
    assert sentence_spans(text) == ()


@pytest.mark.parametrize(
    "text",
    ["This is it, no more. " * 2000, "word " * 10_000, "a.b? " * 10_000, "?" * 50_000, "。" * 50_000, "\n " * 50_000],
    ids=["prose", "no marks", "marks", "marks alone", "full-width marks alone", "blank lines"],
)
def test_ten_thousand_words_take_little_time(text: str) -> None:
    started = time.process_time()
    sentence_spans(text)
    assert time.process_time() - started < 10


def test_tokens_find_their_sentence() -> None:
    spans = ((0, 5), (6, 9), (11, 14))
    offsets = [(0, 0), (0, 3), (3, 5), (5, 9), (4, 8), (6, 9), (9, 11), (10, 14), (11, 14), (14, 16), (7, 7)]
    assert sentence_of_tokens(offsets, spans) == (None, 0, 0, 1, 0, 1, None, 2, 2, None, None)
    assert sentence_of_tokens([], spans) == ()
    assert sentence_of_tokens([(0, 3), (0, 0)], ()) == (None, None)


@given(texts)
def test_every_token_of_a_model_stands_in_the_sentence_of_its_first_visible_character(text: str) -> None:
    spans = sentence_spans(text)
    owner = {position: number for number, (start, end) in enumerate(spans) for position in range(start, end)}
    for steps in (wordpiece_steps(wordpiece(), text), bpe_steps(byte_level(True), text)):
        found = sentence_of_tokens(steps.offsets, spans)
        for (start, end), sentence in zip(steps.offsets, found, strict=True):
            assert sentence == next((owner[at] for at in range(start, end) if at in owner), None)


@pytest.mark.parametrize("name", ["collocations.tab", "sent_starters.txt", "abbrev_types.txt", "ortho_context.tab"])
@pytest.mark.parametrize("how", ["missing", "not text"])
def test_missing_or_damaged_parameters_are_one_sentence(
    name: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(shutil.copytree(punkt.EMBEDDED, tmp_path / "punkt"))
    if how == "missing":
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(b"\xff\xfe\x00damaged")
    monkeypatch.setattr(punkt, "EMBEDDED", folder)
    punkt.embedded_tokenizer.cache_clear()
    with pytest.raises(SentencesUnavailable, match=r"parameters cannot be read .* Restore the folder punkt"):
        sentence_spans("One. Two.")
    monkeypatch.undo()
    assert sentence_spans("One. Two.") == ((0, 4), (5, 9))


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("• Wash the rice\n• Cook it\n  ◦ slowly", ["• Wash the rice", "• Cook it", "◦ slowly"]),
        ("Buy these:\n- milk\n- eggs", ["Buy these:", "- milk", "- eggs"]),
        ("* Wash the rice.\r\n* Cook it. Eat it.", ["* Wash the rice.", "* Cook it.", "Eat it."]),
        ("– Bonjour\n– Salut", ["– Bonjour", "– Salut"]),
        ("It was late\n- too late - for us.", ["It was late\n- too late - for us."]),
        ("3 * 4\n* 5 is 60", ["3 * 4\n* 5 is 60"]),
        ("Chapter 1\nIt was dark. It rained.", ["Chapter 1", "It was dark.", "It rained."]),
        ("CHAPTER IV\r\n“Who is it?”", ["CHAPTER IV", "“Who is it?”"]),
        ("Part Two\nIt was dark.", ["Part Two", "It was dark."]),
        ("Act 3\nScene 2\nEnter Hamlet.", ["Act 3", "Scene 2", "Enter Hamlet."]),
        ("Chapter 1\nof the book is short.", ["Chapter 1\nof the book is short."]),
        ("He read chapter 1\nand slept.", ["He read chapter 1\nand slept."]),
        ("「行こう。」と彼は言った。雨が降った。", ["「行こう。」と彼は言った。", "雨が降った。"]),
        ("「行こう！」って言った。", ["「行こう！」って言った。"]),
        ("『行く？』、彼は笑った。", ["『行く？』、彼は笑った。"]),
        ("「行こう。」雨が降った。", ["「行こう。」", "雨が降った。"]),
        ("“走吧。”天黑了。", ["“走吧。”", "天黑了。"]),
    ],
)
def test_lines_and_quotations_of_many_kinds(text: str, sentences: list[str]) -> None:
    assert cut(text) == sentences
