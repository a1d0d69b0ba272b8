"""A text of another language is told from an English one; what may be English is never called foreign."""

from __future__ import annotations

import pytest

from lab.course.sentences.examples import EXAMPLES
from lab.text.bundled import bundled_sentences
from lab.text.tags.token_tags import ENGLISH as OURS
from lab.text.tags.token_tags import looks_english, small_words
from tests.sentences import STORY

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
