"""A treebank is read word by word; the one that ships has the cases and distances that were counted elsewhere."""

from __future__ import annotations

import lzma
from collections import defaultdict
from pathlib import Path

import pytest

from lab.evidence.relation_cases import best_offset
from lab.evidence.treebank import EWT, Sentence, ewt, halves, read_conllu, read_documents

TEXT = """\
# newdoc id = a
# text = They don't know.
1\tThey\tthey\tPRON\tPRP\t_\t4\tnsubj:outer\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\tVBP\t_\t4\taux:pass\t_\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_
4\tknow\tknow\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
4.1\tit\tit\tPRON\tPRP\t_\t_\t_\t_\t_
5\t.\t.\tPUNCT\t.\t_\t4\tpunct\t_\t_

# text = Go.
1\tGo\tgo\tVERB\tVB\t_\t0\troot\t_\t_
"""
FIRST = Sentence(
    ("They", "do", "n't", "know", "."),
    (4, 4, 4, 0, 4),
    ("nsubj", "aux:pass", "advmod", "root", "punct"),
    ("PRON", "AUX", "PART", "VERB", "PUNCT"),
)


@pytest.mark.parametrize("packed", [False, True])
def test_words_heads_and_relations(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / ("a.conllu.xz" if packed else "a.conllu")
    path.write_bytes(lzma.compress(TEXT.encode()) if packed else TEXT.encode())
    assert read_conllu(path) == [FIRST, Sentence(("Go",), (0,), ("root",), ("VERB",))]


def test_a_file_that_is_no_treebank_is_said_to_be_none(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text("They\tknow\n")
    with pytest.raises(ValueError, match="10 columns"):
        read_conllu(path)


def test_the_treebank_that_ships_is_whole() -> None:
    assert len(read_conllu(EWT)) == 2001
    assert all(len(s.words) == len(s.heads) == len(s.relations) > 1 and s.heads.count(0) == 1 for s in ewt())


@pytest.mark.parametrize(
    ("relation", "cases", "share"),
    [
        ("case", 2015, 37.7),
        ("obj", 1211, 35.8),
        ("compound", 898, 82.5),
        ("nmod:poss", 391, 58.1),
        ("aux:pass", 162, 82.7),
        ("compound:prt", 74, 74.3),
        ("ccomp", 200, 25.0),
    ],
)
def test_cases_and_best_distances_are_those_of_another_count(relation: str, cases: int, share: float) -> None:
    """Counted by whoever planned the experiments, with code of their own; none of these has a subtype that is cut."""
    distances = defaultdict(list)
    for sentence in ewt():
        for word, (head, name) in enumerate(zip(sentence.heads, sentence.relations, strict=True), start=1):
            distances[name].append(head - word)
    assert len(distances[relation]) == cases
    assert 100 * best_offset(distances[relation])[1] == pytest.approx(share, abs=0.06)


def test_documents_are_kept_apart(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(TEXT + "\n# newdoc id = b\n# sent_id = b-1\n" + TEXT.rpartition("# text = Go.\n")[2])
    first, second = read_documents(path)
    assert [len(first), len(second)] == [2, 1] and first[0] == FIRST and first[1] == second[0]


def test_the_halves_share_no_document_and_leave_none_out() -> None:
    """Documents told by the ids of their sentences, "…-0001", read here by themselves."""
    document, of_text = "", defaultdict(set)
    for line in lzma.decompress(EWT.read_bytes()).decode().split("\n"):
        if line.startswith("# sent_id = "):
            document, words = line.partition(" = ")[2].rpartition("-")[0], []
        elif line and line.split("\t")[0].isdigit():
            words.append(line.split("\t")[1])
        elif not line and document:
            of_text[tuple(words)].add(document)
    a, b = (half.sentences for half in halves())
    assert sorted(a + b) == sorted(ewt()) and min(len(a), len(b)) > 600
    # "Thanks !" stands in many documents: only sentences that stand in one say which half it is in.
    of_a, of_b = ({next(iter(of_text[s.words])) for s in half if len(of_text[s.words]) == 1} for half in (a, b))
    assert len(of_a) > 100 < len(of_b) and not of_a & of_b
    genres = [{document.partition("-")[0] for document in half} for half in (of_a, of_b)]
    assert genres[0] == genres[1] and len(genres[0]) > 3
