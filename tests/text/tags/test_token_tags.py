"""Tags reach tokens through characters alone: on the lab's own tokenizers and on spans made up to be awkward."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lab
from lab.models.loading import LoadedModel
from lab.text.tags.token_tags import TaggedSpan, encoding_tags, token_tags
from tests.checkpoints import Family, write_checkpoint


def spans(text: str, *tagged: tuple[str, str]) -> list[TaggedSpan[str]]:
    """Where each word stands, searched from the end of the word before."""
    found, at = [], 0
    for word, tag in tagged:
        at = text.index(word, at)
        found.append(TaggedSpan(at, at + len(word), tag))
        at += len(word)
    return found


@pytest.fixture(scope="module", params=["bert", "gpt2"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """WordPiece that strips accents, and byte-level BPE that splits characters."""
    family: Family = request.param
    folder: Path = tmp_path_factory.mktemp(family)
    return lab.load_model(write_checkpoint(folder, family))


TEXTS = {
    "accents": ("Naïve façade élite résumé café", ["ADJ", "NOUN", "ADJ", "NOUN", "PROPN"]),
    "four-byte characters": ("I 🤖 like 𝒳𝒴 pie", ["PRON", "SYM", "VERB", "X", "NOUN"]),
    "long words in pieces": ("Unbelievable temperatures replaying", ["ADJ", "NOUN", "VERB"]),
    "a family of four joined": ("my 👨‍👩‍👧‍👦 went", ["PRON", "SYM", "VERB"]),
    "combining accents": ("cafe\u0301 closes", ["NOUN", "VERB"]),
}


@pytest.mark.parametrize("name", TEXTS)
def test_every_piece_has_the_tag_of_its_word(name: str, model: LoadedModel) -> None:
    text, tags = TEXTS[name]
    tagged = spans(text, *zip(text.split(), tags, strict=True))
    encoding = lab.trace(model, text).encoding
    found = encoding_tags(encoding, tagged)
    for token, (offset, special) in enumerate(zip(encoding.offsets, encoding.special, strict=True)):
        if special:
            assert found[token] is None
            continue
        # By another route: the word around the middle of the token, counted in blanks before it.
        start, end = offset
        begin = start + len(text[start:end]) - len(text[start:end].lstrip())
        assert found[token] == (tags[len(text[: begin + 1].split()) - 1] if begin < end else None)
    assert set(tags) <= set(found)


def test_contractions_may_be_cut_in_other_places() -> None:
    # spaCy cuts "does|n't", BERT "doesn|'|t": "doesn" shares four characters with AUX, one with PART.
    text = "He doesn't"
    tagged = spans(text, ("He", "PRON"), ("does", "AUX"), ("n't", "PART"))
    assert token_tags([(0, 0), (0, 2), (3, 8), (8, 9), (9, 10), (0, 0)], tagged) == (
        None,
        "PRON",
        "AUX",
        "PART",
        "PART",
        None,
    )


def test_one_token_over_two_words_takes_the_larger_and_of_equals_the_first() -> None:
    tagged = [TaggedSpan(0, 2, "A"), TaggedSpan(2, 5, "B"), TaggedSpan(5, 8, "C")]
    assert token_tags([(0, 5), (2, 8), (8, 9)], tagged) == ("B", "B", None)


def test_a_byte_level_token_with_its_blank_has_the_tag_of_the_word() -> None:
    assert token_tags([(0, 3), (3, 7)], [TaggedSpan(0, 3, "DET"), TaggedSpan(4, 7, "NOUN")]) == ("DET", "NOUN")


def test_entities_cover_parts_of_the_text_only(model: LoadedModel) -> None:
    text = "Yesterday Maria Grünwald left Berlin."
    found = encoding_tags(lab.trace(model, text).encoding, [TaggedSpan(10, 24, "PERSON"), TaggedSpan(30, 36, "GPE")])
    runs = [tag for tag, before in zip(found, (None, *found), strict=False) if tag != before]
    assert [tag for tag in runs if tag] == ["PERSON", "GPE"]
    assert found[-1] is None


def test_a_pair_has_tags_of_its_own(tmp_path: Path) -> None:
    encoding = lab.trace(lab.load_model(write_checkpoint(tmp_path / "bert", "bert")), "the cat", "sat on").encoding
    first, second = spans("the cat", ("the", "DET"), ("cat", "NOUN")), spans("sat on", ("sat", "VERB"), ("on", "ADP"))
    assert encoding_tags(encoding, first, second) == (None, "DET", "NOUN", None, "VERB", "ADP", None)
    assert encoding_tags(encoding, first) == (None, "DET", "NOUN", None, None, None, None)


def test_overlapping_spans_are_refused() -> None:
    with pytest.raises(ValueError, match="one kind of tag at a time"):
        token_tags([(0, 1)], [TaggedSpan(0, 3, "A"), TaggedSpan(2, 4, "B")])


@given(st.lists(st.integers(1, 4), min_size=1, max_size=8), st.lists(st.integers(1, 4), min_size=1, max_size=8))
def test_largest_overlap_counted_character_by_character(words: list[int], tokens: list[int]) -> None:
    def cut(sizes: list[int]) -> list[tuple[int, int]]:
        return [(sum(sizes[:i]), sum(sizes[: i + 1])) for i in range(len(sizes))]

    tagged = [TaggedSpan(start, end, number) for number, (start, end) in enumerate(cut(words))]
    owner = [number for number, size in enumerate(words) for _ in range(size)]
    found = token_tags(cut(tokens), tagged)
    for offset, tag in zip(cut(tokens), found, strict=True):
        counts: dict[int, int] = {}
        for character in range(*offset):
            if character < len(owner):
                counts[owner[character]] = counts.get(owner[character], 0) + 1
        assert tag == max(counts, key=lambda number: (counts[number], -number), default=None)
