"""The shipped en_lab holds its bars on held-out text, and its training data reads corpora as they are meant."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest
import spacy
from spacy.language import Language

from tests.thorough import at_night
from training.en_lab_card import card
from training.en_lab_corpora import dates, litbank, with_dates, without_handles, without_misc
from training.en_lab_data import Sentence, biluo, biluo_to_spans, conllu, documents, join, without_adjectives
from training.en_lab_gazetteer import Gazetteer, kind_of
from training.en_lab_silver import label, treebank
from training.evaluation import folder_bytes
from training.evaluation.en_lab import FOLDER, load, names, syntax


@pytest.fixture(scope="module")
def shipped() -> tuple[float, Language]:
    return load()


CARD = (FOLDER / "MODEL_CARD.md").read_text("utf-8")


@at_night
def test_parts_of_speech_and_dependencies(shipped: tuple[float, Language]) -> None:
    found = syntax(shipped[1])
    assert found["words"] == 25_147  # UD English EWT 2.16 dev, as counted by grep
    assert found["upos"] >= 0.93
    assert found["raw"]["upos"] >= 0.92
    assert found["uas"] >= 0.80
    assert found["las"] >= 0.76
    assert found["raw"]["tokens_f1"] >= 0.97
    for figure in ("upos", "uas", "las"):
        assert f"{100 * found[figure]:.1f} %" in CARD


@at_night
def test_names(shipped: tuple[float, Language]) -> None:
    found = names(shipped[1])
    assert {label: score["gold"] for label, score in found["names"].items()} == {
        "micro": 966,
        "PERSON": 343,
        "ORG": 224,
        "LOC": 399,
    }  # B- tags in the file, as counted by grep
    whole, in_runs = found["names"]["micro"]["f1"], found["names_in_runs"]["micro"]["f1"]
    assert whole >= 0.60
    assert in_runs >= 0.58
    assert f"{100 * whole:.1f} %" in CARD and f"{100 * in_runs:.1f} %" in CARD


def test_small_and_quick(shipped: tuple[float, Language]) -> None:
    assert folder_bytes(FOLDER) <= 8_000_000
    assert shipped[0] < 1


def test_adjectives_name_nothing() -> None:
    words = ["The", "Iraqi", "army", "of", "New", "York", "read", "Arabic", "Weekly", "in", "Arabic"]
    pos = ["DET", "ADJ", "NOUN", "ADP", "ADJ", "PROPN", "VERB", "ADJ", "ADJ", "ADP", "ADJ"]
    tags = ["O", "U-LOC", "O", "O", "B-LOC", "L-LOC", "O", "B-ORG", "L-ORG", "O", "U-MISC"]
    found = without_adjectives(Sentence(words, entities=tags), pos)
    assert biluo_to_spans(found.entities) == [(4, 5, "LOC"), (10, 10, "MISC")]
    assert tags[1] == "U-LOC", "the sentence that was given stays as it was"


def packed(path: Path, text: str) -> Path:
    with lzma.open(path, "wt", encoding="utf-8") as file:
        file.write(text)
    return path


def row(number: str, form: str, head: str = "0", relation: str = "root", misc: str = "_") -> str:
    return "\t".join([number, form, "_", "X", "_", "_", head, relation, "_", misc])


def test_multiword_tokens_and_spaces_give_the_text_back(tmp_path: Path) -> None:
    path = packed(
        tmp_path / "a.conllu.xz",
        "\n".join(
            [
                "# newdoc id = one",
                "# text = I don't, (no).",
                row("1", "I", "3", "nsubj"),
                row("2-3", "don't", misc="SpaceAfter=No").replace("\tX\t", "\t_\t"),
                row("2", "do", "3", "aux"),
                row("3", "n't"),
                row("3.1", "know"),
                row("4", ",", "3", "punct"),
                row("5", "(", "6", "punct", "SpaceAfter=No"),
                row("6", "no", "3", "discourse", "SpaceAfter=No"),
                row("7", ")", "6", "punct", "A=b|SpaceAfter=No"),
                row("8", ".", "3", "punct"),
                "",
            ]
        ),
    )
    (sentence,) = conllu(path)
    doc = join([sentence], spacy.blank("en").vocab)
    assert doc.text.rstrip() == "I don't, (no)."
    assert [t.text for t in doc] == ["I", "do", "n't", ",", "(", "no", ")", "."]
    assert [t.head.i for t in doc] == [2, 2, 2, 2, 5, 2, 5, 2]
    assert doc[2].dep_ == "ROOT"
    assert not doc.has_annotation("ENT_IOB")


def test_documents_are_not_mixed_and_keep_sentence_starts() -> None:
    def sentence(document: str) -> Sentence:
        return Sentence(["a", "b"], document, [True, True], ["X", "X"], [0, 0], ["ROOT", "dep"])

    vocab = spacy.blank("en").vocab
    docs = list(documents([sentence("1"), sentence("1"), sentence("1"), sentence("2")], vocab, most=2))
    assert [len(d) for d in docs] == [4, 2, 2]
    assert [t.is_sent_start for t in docs[0]] == [True, False, True, False]
    assert [t.head.i for t in docs[0]] == [0, 0, 2, 2]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (["I-PER", "I-PER", "O", "I-LOC"], ["B-PERSON", "L-PERSON", "O", "U-LOC"]),  # IOB1, as in wikigold
        (["B-PER", "B-PER", "I-PER"], ["U-PERSON", "B-PERSON", "L-PERSON"]),
        (["I-PER", "I-ORG"], ["U-PERSON", "U-ORG"]),
        (["B-creative-work", "I-creative-work", "I-creative-work"], ["B-MISC", "I-MISC", "L-MISC"]),
    ],
)
def test_every_iob_dialect(tags: list[str], expected: list[str]) -> None:
    assert biluo(tags) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on 4 May 1999 .", ["4 May 1999"]),
        ("May 4 , 1999 ,", ["May 4 , 1999"]),
        ("in 1999 and on Monday", ["1999", "Monday"]),
        ("he may 4 times", []),
        ("sold 1999 books", []),
    ],
)
def test_plain_dates(text: str, expected: list[str]) -> None:
    words = text.split()
    assert [" ".join(words[a : b + 1]) for a, b in dates(words)] == expected


def test_what_a_corpus_does_not_annotate_is_left_open() -> None:
    dated = with_dates(
        Sentence(["Ann", "left", "in", "1999", "after", "two", "weeks", "."], entities=["U-PERSON", *["O"] * 7])
    )
    assert dated.entities == ["U-PERSON", "O", "O", "U-DATE", "O", "O", "-", "O"]
    misc = without_misc(Sentence(["French", "wine"], entities=["O", "O"]), frozenset({"French"}))
    assert misc.entities == ["-", "O"]
    handle = without_handles(Sentence(["@", "ann", "Ann"], entities=["U-PERSON", "U-PERSON", "U-PERSON"]))
    assert handle.entities == ["-", "-", "U-PERSON"]
    doc = join([dated], spacy.blank("en").vocab)
    assert [t.ent_iob_ for t in doc] == ["B", "O", "O", "B", "O", "O", "", "O"]
    assert not doc.has_annotation("TAG")
    assert not doc.has_annotation("DEP")


def test_litbank_keeps_names_without_titles(tmp_path: Path) -> None:
    rows = [
        ("Mr.", "B-PER", "B-PER"),
        ("Woodhouse", "I-PER", "I-PER"),
        ("'s", "O", "I-PER"),
        ("father", "O", "I-PER"),
        ("met", "O", "O"),
        ("the", "B-PER", "O"),
        ("Captain", "I-PER", "O"),
        (".", "O", "O"),
    ]
    path = packed(tmp_path / "book.tsv.xz", "\n".join("\t".join([*r, "O", "O", ""]) for r in rows))
    (sentence,) = litbank(path)
    assert sentence.entities == ["O", "U-PERSON", "O", "O", "O", "O", "O", "O"]


@pytest.mark.parametrize(
    ("lead", "expected"),
    [
        ('Gniezno (German: "Gnesen") is a city in central-western Poland.', ("Gniezno", "LOC")),
        ("Lester Raymond Flatt (June 19, 1914 – May 11, 1979) was a guitarist.", ("Lester Raymond Flatt", "PERSON")),
        ("Fujitsu Ltd. is a company in the city of Tokyo.", ("Fujitsu Ltd.", "ORG")),
        ("An axiom is a premise.", None),
    ],
)
def test_what_a_first_sentence_says(lead: str, expected: tuple[str, str] | None) -> None:
    assert kind_of(lead) == expected


GAZETTEER = Gazetteer({"Leeds": "LOC"}, frozenset({"Ann"}), frozenset(), frozenset({"the", "old", "we"}))


def test_silver_labels_leave_unknown_names_open() -> None:
    words = ["We", "saw", "Ann", "Lee", "and", "Zork", "in", "Leeds", "University"]
    assert label(words, GAZETTEER) == ["O", "O", "B-PERSON", "L-PERSON", "O", "-", "O", "B-ORG", "L-ORG"]


def test_silver_names_of_a_treebank_follow_its_tree() -> None:
    first = Sentence(
        ["Zed", "Quux", "lives", "in", "Foo"],
        "d",
        [True] * 5,
        ["PROPN", "PROPN", "VERB", "ADP", "PROPN"],
        [2, 0, 2, 4, 2],
        ["nsubj", "flat", "ROOT", "case", "obl"],
    )
    second = Sentence(
        ["Quux", "likes", "Bar"], "d", [True] * 3, ["PROPN", "VERB", "PROPN"], [1, 1, 1], ["nsubj", "ROOT", "obj"]
    )
    tagged = [s.entities for s in treebank([first, second], GAZETTEER)]
    assert tagged == [["B-PERSON", "L-PERSON", "O", "O", "U-LOC"], ["U-PERSON", "O", "-"]]


def test_the_card_holds_no_figure_of_its_own() -> None:
    rows = [{"step": 7, "scores": {}}]
    words = {"words": 11}
    log = {
        "data": {
            "parse": {},
            "names": dict.fromkeys(("GUM", "wikigold", "WNUT17", "BTC", "LitBank", "Wikipedia", "EWT"), words),
        },
        "parse": {"seconds": 60, "log": rows},
        "names": {"seconds": 120, "log": rows},
    }
    score = {"precision": 0.111, "recall": 0.222, "f1": 0.333, "gold": 44}
    invented = {
        "upos": 0.555,
        "uas": 0.556,
        "las": 0.557,
        "words": 99,
        "words_per_second": 98,
        "load_seconds": 0.97,
        "folder_bytes": 9_600_000,
        "mistakes": [("a|b [c]", "LOC", "ORG")],
        "names": {"micro": score},
        "names_in_runs": {"micro": score},
        "raw": {"upos": 0.558, "uas": 0.559, "las": 0.561, "tokens_f1": 0.562, "sentences_f1": 0.563},
    }
    text = card(log, invented)
    for expected in ("55.5 %", "55.9 %", "33.3 %", "9.6 MB", "0.97 s", "7 steps", r"| a\|b [c] | LOC | ORG |"):
        assert expected in text
