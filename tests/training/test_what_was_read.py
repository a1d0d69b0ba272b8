"""The counts of words in the texts: on small texts against a count by hand, by the command, too."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

from lab.evidence.what_was_read import Prepared, Tally, first_after, near, next_in_phrase
from tests.training.corpora import write_corpora
from training.corpus import SOURCES
from training.evaluation.what_was_read import count, write

TEXTS = (
    "The doctor said that he knew that she was ill.",  # doctor: he
    "Her doctor came late. She was angry.",  # two sentences: nothing
    "A doctor asked the doctor whether she was ill.",  # doctor: she, twice
    "Paris is far from France, and Paris is large.",  # near France: Paris, twice
    "In France, Rome is far; Lyon is not.",  # near France: Lyon
    "A year has twelve months, not twelve years; twelve Months!",  # twelve: months, years, months
    "Twelve, months.",  # not word for word
)
PREPARED = (
    Prepared("The doctor said that _ came.", "first", "doctor", ("he", "she")),
    Prepared("The capital of France is _.", "near", "France", ("Paris", "Lyon", "Berlin"), "Paris"),
    Prepared("A year has twelve _.", "phrase", "twelve", ("months", "years", "days"), "months"),
)
BY_HAND = {
    PREPARED[0].text: {"he": 1, "she": 2},
    PREPARED[1].text: {"Paris": 2, "Lyon": 1, "Berlin": 0},
    PREPARED[2].text: {"months": 2, "years": 1, "days": 0},
}


def test_a_small_text_is_counted_as_by_hand() -> None:
    tally = Tally(PREPARED)
    tally.read([sentence for text in TEXTS for sentence in text.replace(". She", ".|She").split("|")])
    assert tally.counts() == BY_HAND
    assert (tally.texts.documents, tally.texts.sentences) == (1, 8)
    assert tally.texts.words == sum(len(text.split()) for text in TEXTS)


def test_the_distances_end_where_the_definitions_say() -> None:
    def text(letters: int) -> str:
        return f"doctor{' ' * letters}he"

    assert first_after(text(60), "doctor", ("he",)) == ["he"] and not first_after(text(61), "doctor", ("he",))
    assert near(text(40), "doctor", ("he",)) == ["he"] and not near(text(41), "doctor", ("he",))
    assert near(text(40), "he", ("doctor",)) == ["doctor"] and not near(text(41), "he", ("doctor",))


def test_only_whole_words_count_and_a_word_is_not_beside_itself() -> None:
    assert not first_after("the doctorate that he has", "doctor", ("he",))
    assert not first_after("the doctor and the other", "doctor", ("he",))
    assert not near("a hot day", "hot", ("hot",)) and near("hot and hot", "hot", ("hot",)) == ["hot", "hot"]
    assert not next_in_phrase("twelve monthsx", "twelve", ("months",))


def test_the_command_counts_the_training_documents_of_a_folder(tmp_path: Path) -> None:
    """Sixty documents of one source have these texts, and two of the sixty are held out."""
    folder = write_corpora(tmp_path / "corpora")
    with lzma.open(folder / f"{SOURCES[0].name}.txt.xz", "wt", encoding="utf-8") as file:
        body = "The doctor said that he knew it.\nTwelve months have passed. Rome is in Italy."
        file.write("\n\n".join(f"{body} This is text {number}." for number in range(60)))
    tally = count(folder)
    found = tally.counts()
    assert found["The doctor was tired because _ had worked all night."] == {"he": 58, "she": 0}
    assert found["A year has twelve _."]["months"] == 58 and found["A year has twelve _."]["years"] == 0
    assert found["The capital of Italy is _."]["Rome"] == 58
    assert tally.texts.documents == 58 * len(SOURCES)
    write(tally, tmp_path / "found.json")
    once = (tmp_path / "found.json").read_bytes()
    write(count(folder), tmp_path / "found.json")
    assert (tmp_path / "found.json").read_bytes() == once and json.loads(once)["counts"] == found
