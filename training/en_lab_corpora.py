"""The name corpora ``en_lab`` learns from, each with what it does not annotate left open."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from training.en_lab_data import LABEL_OF, Sentence, blocks, columns, spans_to_biluo, word_set

TITLES = word_set(
    "mr mr. mrs mrs. ms ms. dr dr. miss sir lady lord madame madam captain uncle aunt king queen prince princess "
    "professor prof. president senator colonel general doctor master the"
)
_MONTH = re.compile(r"(january|february|march|april|may|june|july|august|september|october|november|december)$", re.I)
_WEEKDAY = re.compile(r"(mon|tues|wednes|thurs|fri|satur|sun)day$", re.I)
_YEAR = re.compile(r"(1[0-9]|20)\d\d$")
_DAY = re.compile(r"([12]?\d|3[01])(st|nd|rd|th)?$")
_TIME_WORD = re.compile(r"(\d+(s|st|nd|rd|th)?|centur(y|ies)|decades?|years?|months?|weeks?|days?|bc|ad|bce|ce)$", re.I)
_BEFORE_YEAR = word_set("in since of by until from after before during late early circa to - – (")
_INSIDE_NAME = word_set("of de la du von van der - 's ' & the . and")


def dates(words: list[str]) -> list[tuple[int, int]]:
    """Where plain dates stand: "4 May 1999", "May 4, 1999", "May 1999", "in 1999", "Monday"; both ends included."""
    found: list[tuple[int, int]] = []
    here = 0
    while here < len(words):
        end = _date_end(words, here)
        if end is None:
            here += 1
        else:
            found.append((here, end))
            here = end + 1
    return found


def _date_end(words: list[str], here: int) -> int | None:
    def fits(pattern: re.Pattern[str], position: int) -> bool:
        return position < len(words) and bool(pattern.match(words[position]))

    if fits(_WEEKDAY, here) and words[here][0].isupper():
        return here
    end: int | None = None
    day_first = fits(_DAY, here) and fits(_MONTH, here + 1)
    month = fits(_MONTH, here) and words[here][0].isupper()
    if day_first or (month and (fits(_DAY, here + 1) or fits(_YEAR, here + 1))):
        end = here + 1
    if end is not None:
        if fits(_YEAR, end + 1):
            return end + 1
        return end + 2 if end + 1 < len(words) and words[end + 1] == "," and fits(_YEAR, end + 2) else end
    if fits(_YEAR, here) and here and words[here - 1].lower() in _BEFORE_YEAR:
        return here
    return None


def with_dates(sentence: Sentence) -> Sentence:
    """Add silver DATE tags where the corpus has none, and leave open what else may be one."""
    tags = list(sentence.entities)
    for position, word in enumerate(sentence.words):
        if tags[position] == "O" and (_TIME_WORD.match(word) or _MONTH.match(word)):
            tags[position] = "-"
    for first, last in dates(sentence.words):
        if all(tag in ("O", "-") for tag in tags[first : last + 1]):
            tags[first : last + 1] = spans_to_biluo(last - first + 1, [(0, last - first, "DATE")])
    sentence.entities = tags
    return sentence


def without_misc(sentence: Sentence, misc: frozenset[str]) -> Sentence:
    """Leave open the words a corpus without MISC passes over although ``misc``, the words in others' MISC, has them."""
    sentence.entities = [
        "-" if tag == "O" and word in misc else tag for word, tag in zip(sentence.words, sentence.entities, strict=True)
    ]
    return sentence


def misc_words(sentences: Iterable[Sentence]) -> frozenset[str]:
    """The capitalised words of all MISC names."""
    return frozenset(
        word
        for s in sentences
        for word, tag in zip(s.words, s.entities, strict=True)
        if tag.endswith("-MISC") and word[:1].isupper() and len(word) > 3
    )


def without_handles(sentence: Sentence) -> Sentence:
    """Leave open Twitter's @names, which the Broad Twitter Corpus takes as persons."""
    tags = sentence.entities
    for position, word in enumerate(sentence.words):
        after_at = position > 0 and sentence.words[position - 1] == "@"
        if (word.startswith("@") or after_at) and tags[position].startswith("U-"):
            tags[position] = "-"
    return sentence


def litbank(path: Path) -> Iterator[Sentence]:
    """LitBank's novels: of its nested entities the proper names, titles ("Mrs.") cut off.

    An entity that holds a capitalised word but is no plain name ("the Captain") is left open.
    """
    for block in blocks(path):
        rows = [line.split("\t") for line in block]
        words = [row[0] for row in rows]
        spans: list[tuple[int, int, str]] = []
        unknown: set[int] = set()
        for layer in zip(*(row[1:5] for row in rows), strict=True):
            for first, last, label in _iob_spans(layer):
                name = _name_run(words, first, last)
                if name and all(name[1] < a or name[0] > b for a, b, _ in spans):
                    spans.append((*name, LABEL_OF[label]))
                elif any(words[k][:1].isupper() for k in range(first, last + 1)):
                    unknown.update(range(first, last + 1))
        tags = spans_to_biluo(len(words), spans)
        for position in unknown:
            if tags[position] == "O" and words[position][:1].isupper() and words[position].lower() not in TITLES:
                tags[position] = "-"
        yield Sentence(words, entities=tags)


def _iob_spans(tags: Iterable[str]) -> list[tuple[int, int, str]]:
    spans: list[tuple[int, int, str]] = []
    for position, tag in enumerate(tags):
        if tag.startswith("B-"):
            spans.append((position, position, tag[2:]))
        elif tag.startswith("I-") and spans:
            spans[-1] = (spans[-1][0], position, spans[-1][2])
    return spans


def _name_run(words: list[str], first: int, last: int) -> tuple[int, int] | None:
    """The span without leading titles, if all the rest is a name."""
    while first <= last and words[first].lower() in TITLES:
        first += 1
    inside = words[first : last + 1]
    if not inside or not inside[0][:1].isupper() or not inside[-1][:1].isupper() or len(inside[0]) == 1:
        return None
    return (first, last) if all(w[:1].isupper() or w.lower() in _INSIDE_NAME for w in inside) else None


def names_of(folder: Path) -> dict[str, list[Sentence]]:
    """The sentences of every name corpus below ``folder`` (``annotated/ner``)."""
    btc = [s for part in "abefgh" for s in columns(folder / f"btc_{part}.conll.xz")]
    books = [s for path in sorted((folder / "litbank").glob("*.xz")) for s in litbank(path)]
    wikigold = [with_dates(s) for s in columns(folder / "wikigold.conll.txt.xz")]
    gum = list(columns(folder / "gum-open-train.iob2.xz"))
    wnut = [with_dates(s) for s in columns(folder / "wnut17train.conll.xz")]
    misc = misc_words([*gum, *(s for k, s in enumerate(wikigold) if k % 10), *wnut])
    return {
        "GUM": gum,
        "wikigold": [s for k, s in enumerate(wikigold) if k % 10],
        "WNUT17": wnut,
        "BTC": [with_dates(without_misc(without_handles(s), misc)) for s in btc if _named(s)],
        "LitBank": [with_dates(without_misc(s, misc)) for s in books if _named(s)],
        "held out": [*columns(folder / "gum-open-dev.iob2.xz"), *(s for k, s in enumerate(wikigold) if not k % 10)],
    }


def _named(sentence: Sentence) -> bool:
    return any(tag[0] in "BU" for tag in sentence.entities)
