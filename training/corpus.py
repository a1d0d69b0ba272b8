"""The corpora the embedded models learn from: sources, documents, sentences, token arrays.

A corpus folder holds ``<source>.txt.xz`` files: paragraphs on lines, documents separated by a
blank line. :func:`token_corpus` turns the folder into two flat :class:`TokenCorpus` arrays (train
and held-out) and caches them, so that a resumed run starts at once. The held-out documents travel in
the repository (``training/held_out/prose.jsonl.xz``), so that ``make evaluate`` needs no corpus:

    python -m training.corpus --corpora ../shared/corpora        writes that file
"""

from __future__ import annotations

import hashlib
import json
import lzma
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from training.command_line import documented


@dataclass(frozen=True)
class Source:
    """One corpus file. ``weight`` multiplies how often its text is drawn for training.

    ``documents`` says whether neighbouring sentences belong together: only then may they make
    next-sentence pairs.
    """

    name: str
    licence: str
    documents: bool = True
    weight: float = 1.0


SOURCES = (
    Source("african-storybook-en", "CC BY 4.0 (African Storybook)", weight=4),
    Source("classic-books-children", "public domain", weight=1.5),
    Source("classic-books-general", "public domain", weight=0.7),
    Source("common-voice-en", "CC0 1.0 (Mozilla Common Voice)", documents=False, weight=3),
    Source("factbook", "CC0 1.0 (CIA World Factbook)", documents=False),
    Source("nltk-inaugural", "public domain", weight=0.7),
    Source("nltk-state_union", "public domain", weight=0.7),
    Source("open-english-wordnet-glosses", "CC BY 4.0 (Open English WordNet)", documents=False, weight=0.7),
    Source("openstax", "CC BY 4.0 (OpenStax, access for free at openstax.org)"),
    Source("pratham-books-en", "CC BY 4.0 (Pratham Books / StoryWeaver)", weight=4),
    Source("tatoeba-eng", "CC BY 2.0 FR (Tatoeba contributors)", documents=False, weight=4),
    Source("tinystories-sample", "CDLA-Sharing-1.0 (TinyStories)", weight=4),
    Source("wikinews-en", "CC BY 2.5 (Wikinews contributors)"),
    Source("wikipedia-en-2015", "CC BY-SA 3.0 (Wikipedia contributors)"),
)

_SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<!\b[A-Z]\.)(?<!Mr\.)(?<!Mrs\.)(?<!Dr\.)(?<!St\.)[\"'”’)]*\s+(?=[\"'“‘(]?[A-Z0-9])"
)
HELD_OUT = Path(__file__).parent / "held_out" / "prose.jsonl.xz"
_SECTION_WORDS = 2000
_HELD_OUT_SHARE = 0.01


@dataclass(frozen=True)
class TokenCorpus:
    """Sentences of token ids, end to end.

    tokens           (T,)   uint16, all sentences one after the other
    sentence_starts  (S+1,) where each sentence begins in ``tokens``; the last entry is T
    document_of      (S,)   document number of each sentence
    source_of        (S,)   index into ``SOURCES``
    """

    tokens: np.ndarray
    sentence_starts: np.ndarray
    document_of: np.ndarray
    source_of: np.ndarray


def paragraphs_to_sentences(text: str) -> list[str]:
    """Split on sentence ends; good enough to start windows at a sentence, no more is asked."""
    out: list[str] = []
    for line in text.splitlines():
        start = 0
        for match in _SENTENCE_END.finditer(line):
            out.append(line[start : match.end()].strip())
            start = match.end()
        out.append(line[start:].strip())
    return [sentence for sentence in out if sentence.strip("#* ")]


def _sections(document: str) -> Iterator[str]:
    """Cut one very long document into runs of paragraphs of about ``_SECTION_WORDS`` words."""
    run: list[str] = []
    words = 0
    for line in document.splitlines():
        run.append(line)
        words += len(line.split())
        if words >= _SECTION_WORDS:
            yield "\n".join(run)
            run, words = [], 0
    if run:
        yield "\n".join(run)


def documents(folder: Path, source: Source) -> list[str]:
    """The documents of a source. A source with under fifty is cut into sections instead."""
    with lzma.open(folder / f"{source.name}.txt.xz", "rt", encoding="utf-8") as file:
        whole = [d for d in file.read().split("\n\n") if d.strip()]
    if len(whole) >= 50:
        return whole
    return [section for document in whole for section in _sections(document)]


def split(folder: Path) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Every (source index, document) as (train, held-out): two whole documents a source, or 1 %.

    The documents with the lowest hash of their text are held out, so the split depends neither on
    order nor on a seed.
    """
    train: list[tuple[int, str]] = []
    held_out: list[tuple[int, str]] = []
    for index, source in enumerate(SOURCES):
        ranked = sorted(documents(folder, source), key=lambda d: hashlib.sha256(d.encode()).digest())
        count = max(2, round(_HELD_OUT_SHARE * len(ranked)))
        held_out += [(index, document) for document in ranked[:count]]
        train += [(index, document) for document in ranked[count:]]
    return train, held_out


def _pack(tokenizer: Tokenizer, texts: list[tuple[int, str]], before_sentence: str) -> TokenCorpus:
    tokens: list[np.ndarray] = []
    lengths: list[int] = []
    document_of: list[int] = []
    source_of: list[int] = []
    for number, (source_index, document) in enumerate(texts):
        sentences = [before_sentence + sentence for sentence in paragraphs_to_sentences(document)]
        for encoding in tokenizer.encode_batch(sentences, add_special_tokens=False):
            if encoding.ids:
                tokens.append(np.asarray(encoding.ids, dtype=np.uint16))
                lengths.append(len(encoding.ids))
                document_of.append(number)
                source_of.append(source_index)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return TokenCorpus(
        np.concatenate(tokens), starts, np.asarray(document_of, np.int32), np.asarray(source_of, np.int8)
    )


def token_corpus(
    folder: Path, tokenizer: Tokenizer, cache: Path, before_sentence: str = ""
) -> tuple[TokenCorpus, TokenCorpus]:
    """Return (train, held-out), tokenized once and kept in ``cache`` (.npz).

    ``before_sentence`` is the space that byte-level BPE keeps with the word after it.
    """
    if not cache.exists():
        packed = [_pack(tokenizer, part, before_sentence) for part in split(folder)]
        arrays = {f"{i}_{name}": value for i, corpus in enumerate(packed) for name, value in vars(corpus).items()}
        cache.parent.mkdir(parents=True, exist_ok=True)
        np.savez(cache, **arrays)
    with np.load(cache) as stored:
        train, held_out = (
            TokenCorpus(*(stored[f"{i}_{name}"] for name in TokenCorpus.__dataclass_fields__)) for i in (0, 1)
        )
    return train, held_out


def write_held_out(folder: Path, path: Path = HELD_OUT) -> None:
    """Keep the held-out documents of ``folder``, one JSON object a line: source, text.

    TinyStories stays out: its licence asks whoever passes the data on to keep its own terms.
    """
    with lzma.open(path, "wt", encoding="utf-8", preset=9) as file:
        for index, document in split(folder)[1]:
            if SOURCES[index].name != "tinystories-sample":
                file.write(json.dumps({"source": SOURCES[index].name, "text": document}, ensure_ascii=False) + "\n")


def held_out_corpus(tokenizer: Tokenizer, before_sentence: str = "") -> TokenCorpus:
    """The held-out documents that travel in the repository, tokenized."""
    number = {source.name: index for index, source in enumerate(SOURCES)}
    with lzma.open(HELD_OUT, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    return _pack(tokenizer, [(number[record["source"]], record["text"]) for record in records], before_sentence)


def main() -> None:
    parser = documented(__doc__)
    parser.add_argument("--corpora", type=Path, required=True)
    write_held_out(parser.parse_args().corpora)


if __name__ == "__main__":
    main()
