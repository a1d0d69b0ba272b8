"""Sentences whose grammar people wrote down: Universal Dependencies (de Marneffe et al. 2021).

``EWT`` is the dev part of UD English EWT, which no model of this lab was trained on; ``data/ATTRIBUTION.md``.
"""

from __future__ import annotations

import hashlib
import lzma
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

EWT = Path(__file__).parent / "data" / "en_ewt-ud-dev.conllu.xz"
# Subtypes that are a relation of their own in the tables of Clark et al. 2019: poss, auxpass and prt.
OWN_RELATIONS = frozenset({"nmod:poss", "aux:pass", "compound:prt"})


class Sentence(NamedTuple):
    """A sentence as its treebank gives it, one entry a word.

    Attributes
    ----------
    words
        As they are spelt.
    heads
        The number, from 1, of the word that each one depends on; 0 for the root.
    relations
        How it depends: ``"nsubj"``. Subtypes are cut off but for :data:`OWN_RELATIONS`.
    """

    words: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]


def read_conllu(path: str | Path) -> list[Sentence]:
    """The sentences of a CoNLL-U file, plain or packed by xz.

    "don't" is two words, "do" and "n't". Words that are not spelt (8.1, of the enhanced graph) are left out.

    Raises
    ------
    ValueError
        For what is no text, a line that has not the ten columns of the format, and a head that is no word's number.
    """
    return [sentence for document in read_documents(path) for sentence in document]


def read_documents(path: str | Path) -> list[list[Sentence]]:
    """The same, document by document, as the comments ``# newdoc`` part them; without any, all are one."""
    path = Path(path)
    raw = path.read_bytes()
    try:
        lines = (lzma.decompress(raw) if path.suffix == ".xz" else raw).decode().split("\n")
    except (lzma.LZMAError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name} holds no text in UTF-8: {error}.") from error
    documents: list[list[Sentence]] = [[]]
    for filled, block in groupby(lines, key=lambda line: bool(line.strip())):
        sentence = list(block)
        if filled and any(line.startswith("# newdoc") for line in sentence):
            documents.append([])
        if filled and (rows := tuple(_rows(sentence))):
            if any(head > len(rows) for _, head, _ in rows):
                raise ValueError(f"a head is beyond the {len(rows)} words of its sentence, {rows[0][0]!r} and so on.")
            documents[-1].append(Sentence(*zip(*rows, strict=True)))
    return [document for document in documents if document]


def _rows(block: Iterable[str]) -> Iterator[tuple[str, int, str]]:
    for line in block:
        if line.startswith("#"):
            continue
        columns = line.split("\t")
        if len(columns) != 10:
            raise ValueError(f"a line of CoNLL-U has 10 columns; this one has {len(columns)}: {line[:60]!r}.")
        number, word, relation = columns[0], columns[1], columns[7]
        if number.isdigit():
            if not columns[6].isdecimal():
                raise ValueError(f"the seventh column is the number of a word's head; {word!r} has {columns[6]!r}.")
            yield word, int(columns[6]), relation if relation in OWN_RELATIONS else relation.split(":")[0]


@cache
def ewt() -> tuple[Sentence, ...]:
    """The sentences of :data:`EWT` that have more than one word."""
    return tuple(sentence for sentence in read_conllu(EWT) if len(sentence.words) > 1)


@cache
def halves() -> tuple[tuple[Sentence, ...], tuple[Sentence, ...]]:
    """:func:`halves_of` :data:`EWT`."""
    return halves_of(EWT)


def halves_of(path: str | Path) -> tuple[tuple[Sentence, ...], tuple[Sentence, ...]]:
    """Those of every other document, A, and those of the rest, B: to choose on one half and to report on the other.

    Documents follow each other by genre, so both halves have of all genres; none is in both. A file of one document,
    or whose comments part none, is cut in the middle. Sentences of one word are left out.
    """
    documents = read_documents(path)
    if len(documents) == 1:
        middle = (len(documents[0]) + 1) // 2
        documents = [documents[0][:middle], documents[0][middle:]]
    a, b = (
        tuple(sentence for document in half for sentence in document if len(sentence.words) > 1)
        for half in (documents[::2], documents[1::2])
    )
    return a, b


@cache
def ewt_hash() -> str:
    """:func:`file_hash` of :data:`EWT`."""
    return file_hash(EWT)


def file_hash(path: Path) -> str:
    """SHA-256 of a treebank: results of other sentences are other results."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
