"""Tags reach tokens through characters alone: on the lab's own tokenizers and on spans made up to be awkward."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lab
from lab.course.sentences.examples import EXAMPLES
from lab.models.loading import LoadedModel
from lab.text.bundled import bundled_sentences
from lab.text.tags.token_tags import ENGLISH as OURS
from lab.text.tags.token_tags import TaggedSpan, encoding_tags, looks_english, small_words, token_tags
from tests.checkpoints import Family, write_checkpoint
from tests.sentences import STORY


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


FOREIGN = {
    "German": ("Der Hund schläft auf dem Sofa, weil er müde ist.", "Ich habe gestern meinen Bruder in Berlin gesehen."),
    "French": ("Le chat dort sur le canapé.", "Elle a donné à son frère le livre qu'il voulait."),
    "Spanish": ("El perro duerme en la casa de mi hermana.", "Ella le dio el libro que quería."),
    "Italian": ("Il gatto dorme sul divano perché è stanco.", "Non ho mai visto una cosa del genere."),
    "Dutch": ("De hond slaapt op de bank omdat hij moe is.", "Ik heb gisteren mijn broer gezien."),
    "Polish": ("Kot śpi na kanapie, bo jest zmęczony.", "Nie wiem, czy on jest w domu."),
    "Turkish": ("Bu kitap çok güzel ama ben onu daha önce okudum.",),
    "Japanese": ("猫がソファで寝ています。", "彼女は弟に本をあげた。"),
    "Chinese": ("猫在沙发上睡觉。",),
    "Arabic": ("القطة تنام على الأريكة.", "أعطت أخاها الكتاب الذي أراده."),
    "Russian": ("Кошка спит на диване.",),
    "Greek": ("Η γάτα κοιμάται στον καναπέ.",),
}
ENGLISH = (
    STORY,
    "I didn't know that you'd've liked it; they're Anna's, aren't they?",  # contractions
    "Dogs bark.",
    "Stop!",
    "Paris",
    "Anna",
    "No.",
    "Hello",  # short ones
    "Giuseppe Verdi met José Ortega y Gasset in São Paulo.",  # names
    "Juan de la Cruz and Ludwig van Beethoven never met.",
    "Los Angeles beat Real Madrid.",
    "Die Hard is a film.",
    "Zoë's café serves crème brûlée à la carte.",
    "Tom bought a ticket in Paris and took the train to Rome.",
    "The German word for dog is Hund.",
    "Colorless green ideas sleep furiously.",
    "Buffalo buffalo Buffalo buffalo.",
    "",
    "   ",
    "123 + 4 = 127",
    "🙂🙂🙂",
    "α",
    "E = mc²",
    "π ≈ 3.14",
    "the word " * 50,
)


@pytest.mark.parametrize("text", [each for texts in FOREIGN.values() for each in texts])
def test_another_language_does_not_look_english(text: str) -> None:
    assert not looks_english(text)


@pytest.mark.parametrize("text", ENGLISH)
def test_what_may_be_english_looks_so(text: str) -> None:
    assert looks_english(text)


def test_all_sentences_of_the_lab_look_english() -> None:
    texts = [*bundled_sentences(), *(each.text for each in EXAMPLES)]
    assert [text for text in texts if not looks_english(text)] == []


def test_quoting_another_language_is_still_english() -> None:
    assert looks_english("She said “der Hund und die Katze” and I did not know what it meant.")


def test_a_language_is_read_from_its_own_block() -> None:
    words = small_words()
    assert len(words) > 10 and {"the", "of"} <= words[OURS]
    assert {"der", "und"} <= words["German"] and "und" not in words["French"]
    assert all(word == word.lower() and word.isalpha() for own in words.values() for word in own)
