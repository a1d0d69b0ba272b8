"""Annotated sentences for ``en_lab``, read from CoNLL-U and IOB files, and as spaCy documents.

What a corpus does not annotate is left missing, never taken as "nothing there": spaCy draws no gradient
from missing tags, heads and entity tokens.
"""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

from spacy.tokens import Doc
from spacy.vocab import Vocab


def word_set(text: str) -> frozenset[str]:
    """The words of a list written as running text."""
    return frozenset(text.split())


LABELS = ("PERSON", "ORG", "LOC", "DATE", "MISC")
LABEL_OF = {
    "PER": "PERSON", "person": "PERSON", "ORG": "ORG", "corporation": "ORG", "group": "ORG", "LOC": "LOC",
    "location": "LOC", "GPE": "LOC", "FAC": "LOC", "DATE": "DATE", "MISC": "MISC", "EVENT": "MISC",
    "product": "MISC", "creative-work": "MISC", "VEH": "MISC",
}  # fmt: skip


@dataclass
class Sentence:
    """One sentence as its corpus gives it. ``entities`` holds a BILUO tag per word, ``-`` where unknown."""

    words: list[str]
    document: str = ""
    spaces: list[bool] | None = None
    pos: list[str] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)
    entities: list[str] = field(default_factory=list)


def lines(path: Path) -> Iterator[str]:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield line.rstrip("\n")


def blocks(path: Path) -> Iterator[list[str]]:
    for filled, block in groupby(lines(path), key=lambda line: bool(line.strip())):
        if filled:
            yield list(block)


def conllu(path: Path) -> Iterator[Sentence]:
    """The sentences of a CoNLL-U file, one word per syntactic word.

    Words of a multiword token ("don't" = "do" + "n't") stand without a space between them, and the
    token's own line says whether one follows. Empty nodes (8.1) belong to the enhanced graph and are left out.
    """
    document = ""
    for block in blocks(path):
        sentence = Sentence([], spaces=[])
        within = 0
        after = True
        for line in block:
            if line.startswith("#"):
                document = line.split("=", 1)[1].strip() if line.startswith("# newdoc") else document
                continue
            number, form, _, upos, _, _, head, relation, _, misc = line.split("\t")
            space = "SpaceAfter=No" not in misc.split("|")
            if "-" in number:
                within, after = int(number.split("-")[1]), space
                continue
            if "." in number:
                continue
            position = int(number)
            sentence.words.append(form)
            sentence.spaces.append(False if position < within else after if position == within else space)  # type: ignore[union-attr]
            sentence.pos.append(upos)
            sentence.heads.append(int(head) - 1 if head != "0" else position - 1)
            sentence.relations.append("ROOT" if relation == "root" else relation)
        sentence.document = document
        yield sentence


def columns(path: Path, word: int = 0, tag: int = 1) -> Iterator[Sentence]:
    """The sentences of a file with one word and its entity tag per line, in any IOB dialect."""
    for block in blocks(path):
        rows = [line.split() if "\t" not in line else line.split("\t") for line in block if not line.startswith("# ")]
        rows = [row for row in rows if len(row) > max(word, tag) and row[word].strip()]
        if rows:
            yield Sentence([row[word] for row in rows], entities=biluo([row[tag] for row in rows]))


def biluo(tags: Iterable[str]) -> list[str]:
    """IOB1 or IOB2 tags, of any of the corpora's names, as BILUO tags of ``LABELS``."""
    spans: list[list[int]] = []
    names: list[str] = []
    before = "O"
    given = list(tags)
    for position, tag in enumerate(given):
        kind, _, name = tag.partition("-")
        if name:
            if kind == "I" and before.partition("-")[2] == name:
                spans[-1][1] = position
            else:
                spans.append([position, position])
                names.append(LABEL_OF[name])
        before = tag
    return spans_to_biluo(len(given), [(a, b, name) for (a, b), name in zip(spans, names, strict=True)])


def spans_to_biluo(length: int, spans: Iterable[tuple[int, int, str]], rest: str = "O") -> list[str]:
    """Tags of ``length`` words for spans ``(first, last, label)``, both ends included."""
    tags = [rest] * length
    for first, last, label in spans:
        if first == last:
            tags[first] = f"U-{label}"
        else:
            tags[first : last + 1] = [f"B-{label}", *[f"I-{label}"] * (last - first - 1), f"L-{label}"]
    return tags


def documents(sentences: Iterable[Sentence], vocab: Vocab, most: int = 8) -> Iterator[Doc]:
    """Join up to ``most`` neighbouring sentences of a document into one, so that the parser learns where they end."""
    group: list[Sentence] = []
    for sentence in sentences:
        if group and (len(group) == most or sentence.document != group[0].document):
            yield join(group, vocab)
            group = []
        group.append(sentence)
    if group:
        yield join(group, vocab)


def join(group: list[Sentence], vocab: Vocab) -> Doc:
    """One document of several sentences; what none of them annotates stays missing."""
    words = [word for s in group for word in s.words]
    spaces = [space for s in group for space in s.spaces] if all(s.spaces for s in group) else None  # type: ignore[union-attr]
    starts = [sum(len(s.words) for s in group[:k]) for k in range(len(group))]
    first = set(starts)
    parsed = all(s.heads for s in group)
    return Doc(
        vocab,
        words=words,
        spaces=spaces,
        pos=[pos for s in group for pos in s.pos] if parsed else None,
        heads=[start + head for start, s in zip(starts, group, strict=True) for head in s.heads] if parsed else None,
        deps=[relation for s in group for relation in s.relations] if parsed else None,
        sent_starts=[k in first for k in range(len(words))] if parsed else None,
        ents=_spacy_tags([tag for s in group for tag in s.entities]) if group[0].entities else None,
    )


def without_adjectives(sentence: Sentence, pos: Sequence[str]) -> Sentence:
    """The sentence without PERSON, ORG and LOC on nothing but adjectives: "Iraqi" tells of a place and names none.

    Some corpora tag them, Universal NER does not; ``pos`` has a part of speech for each word.
    """
    tags = list(sentence.entities)
    for first, last, label in biluo_to_spans(tags):
        if label in ("PERSON", "ORG", "LOC") and set(pos[first : last + 1]) == {"ADJ"}:
            tags[first : last + 1] = ["O"] * (last - first + 1)
    return replace(sentence, entities=tags)


def biluo_to_spans(tags: Sequence[str]) -> list[tuple[int, int, str]]:
    """The spans ``(first, last, label)`` of BILUO tags, both ends included."""
    starts = [i for i, tag in enumerate(tags) if tag[0] in "BU"]
    ends = [i for i, tag in enumerate(tags) if tag[0] in "LU"]
    return [(first, last, tags[first][2:]) for first, last in zip(starts, ends, strict=True)]


def _spacy_tags(tags: list[str]) -> list[str]:
    """What ``Doc`` reads: B- and I-, O, and "" where the entity is not known."""
    return ["" if tag == "-" else re.sub("^U-", "B-", re.sub("^L-", "I-", tag)) for tag in tags]
