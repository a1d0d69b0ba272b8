"""Sentences with grammar annotated by people: Universal Dependencies (de Marneffe et al. 2021).

``EWT`` is the dev part of UD English EWT. ``GUM`` has 40 documents of UD English GUM, from its ten open genres. No
model of this lab learned from these annotations; the recipe of lab-minilm was chosen by its heads' grammar on EWT, and
nothing was chosen on GUM. Sources: ``data/ATTRIBUTION.md``.
"""

from __future__ import annotations

import hashlib
import lzma
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

EWT = Path(__file__).parent / "data" / "en_ewt-ud-dev.conllu.xz"
GUM = Path(__file__).parent / "data" / "en_gum_open-40.conllu.xz"
# Subtypes that are separate relations in the tables of Clark et al. 2019: poss, auxpass and prt.
OWN_RELATIONS = frozenset({"nmod:poss", "aux:pass", "compound:prt"})


class Sentence(NamedTuple):
    """A sentence as annotated in its treebank, one entry per word.

    Attributes
    ----------
    words
        The words as spelt.
    heads
        The number, from 1, of the word that each word depends on; 0 for the root.
    relations
        The relation of each word to its head: ``"nsubj"``. Subtypes are cut off, except :data:`OWN_RELATIONS`.
    tags
        The universal part of speech of each word: ``"NOUN"``; ``"_"`` in a treebank without them.
    """

    words: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    tags: tuple[str, ...]


def read_conllu(path: str | Path) -> list[Sentence]:
    """Read the sentences of a CoNLL-U file, plain or packed by xz.

    "don't" is two words, "do" and "n't". Words that the text does not spell (such as 8.1, from the enhanced graph) are
    left out.

    Raises
    ------
    ValueError
        If the file is not text, a line does not have ten columns, or a head is not the number of a word.
    """
    return [sentence for document in read_documents(path) for sentence in document]


def read_documents(path: str | Path) -> list[list[Sentence]]:
    """The sentences of a file by document, split at ``# newdoc`` comments; one document without such comments."""
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
            if any(head > len(rows) for _, head, *_ in rows):
                raise ValueError(f"a head is beyond the {len(rows)} words of its sentence, {rows[0][0]!r} and so on.")
            documents[-1].append(Sentence(*zip(*rows, strict=True)))
    return [document for document in documents if document]


def _rows(block: Iterable[str]) -> Iterator[tuple[str, int, str, str]]:
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
            kept = relation if relation in OWN_RELATIONS else relation.split(":")[0]
            yield word, int(columns[6]), kept, columns[3]


@cache
def ewt() -> tuple[Sentence, ...]:
    """Return the sentences of :data:`EWT` that have more than one word."""
    return tuple(sentence for sentence in read_conllu(EWT) if len(sentence.words) > 1)


@dataclass(frozen=True)
class Half:
    """Sentences of several words, and for each sentence the number of its document, from 0."""

    sentences: tuple[Sentence, ...]
    documents: tuple[int, ...]


@cache
def halves() -> tuple[Half, Half]:
    """:func:`halves_of` :data:`EWT`."""
    return halves_of(EWT)


@cache
def gum() -> Half:
    """All of :data:`GUM`."""
    return _half(read_documents(GUM))


def halves_of(path: str | Path) -> tuple[Half, Half]:
    """Split a file into every other document, A, and the rest, B: to choose on one half and report on the other.

    Documents are sorted by genre, so both halves have all genres, but no document is in both. If a file has one
    document, that is cut in the middle, and each of its sentences counts as a document.
    """
    documents = read_documents(path)
    if len(documents) == 1:
        middle, each = (len(documents[0]) + 1) // 2, [[sentence] for sentence in documents[0]]
        return _half(each[:middle]), _half(each[middle:])
    return _half(documents[::2]), _half(documents[1::2])


def _half(documents: Sequence[Sequence[Sentence]]) -> Half:
    both = [(each, number) for number, own in enumerate(documents) for each in own if len(each.words) > 1]
    sentences, numbers = zip(*both, strict=True) if both else ((), ())
    return Half(sentences, numbers)


@cache
def ewt_hash() -> str:
    """:func:`file_hash` of :data:`EWT`."""
    return file_hash(EWT)


def file_hash(*paths: Path) -> str:
    """Return the SHA-256 of treebank files, which tells results for different sentences apart."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()
