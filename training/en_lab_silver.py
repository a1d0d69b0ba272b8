"""Silver names for ``en_lab``: the gazetteer's, found in running text and in a treebank.

A capitalised word that is not found is left open, never taken as "no name".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path

from training.en_lab_corpora import TITLES, with_dates
from training.en_lab_data import Sentence, spans_to_biluo, word_set
from training.en_lab_gazetteer import LINKS, Gazetteer, articles, kind_of

_ORG_TAIL = word_set(
    "University College Inc. Inc Corp. Corp Corporation Company Co. Ltd Ltd. LLC Party Association Institute League "
    "Bank Committee Council Ministry Department Commission Agency Foundation Society Airlines Records Federation "
    "Club Army Navy Congress Senate Parliament Court"
)
_PLACE_TAIL = word_set(
    "County River Lake Island Islands Street Mountains Valley Avenue Bay Beach Creek Ocean Sea Peninsula Desert "
    "Province Airport Bridge Square Road Park"
)
_CALENDAR = re.compile(
    r"(mon|tues|wednes|thurs|fri|satur|sun)day$|(jan|febr)uary$|march$|april$|may$|ju(ne|ly)$|"
    r"august$|(septem|octo|novem|decem)ber$|(jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)$",
    re.I,
)
_ACRONYM = re.compile(r"(?!USA|NYC|GOD|[A-Z][A-Z]T$)[A-Z&]{3,5}$")  # Not time zones
_ADJECTIVE = re.compile(r".*(ish|ese|ian|ean|ch|can|ist|ists|ians|icans)$")


def label(words: list[str], gazetteer: Gazetteer) -> list[str]:
    """BILUO tags: known names, O for words that cannot start one, ``-`` for every other capitalised word."""
    tags = ["-" if word[:1].isupper() and word != "I" else "O" for word in words]
    if words and words[0].lower() in gazetteer.common:
        tags[0] = "O"
    here = 0
    while here < len(words):
        end, kind = _match(words, here, gazetteer)
        if kind:
            tags[here:end] = spans_to_biluo(end - here, [(0, end - here - 1, kind)])
        here = max(end, here + 1)
    return tags


def _match(words: list[str], here: int, gazetteer: Gazetteer) -> tuple[int, str]:
    """Where the capitalised run that starts ``here`` ends, and its kind or "" if it is unknown."""
    if not words[here][:1].isupper() or words[here] == "I":
        return here + 1, ""
    run = here
    while run < len(words) and (
        words[run][:1].isupper() or (words[run] in LINKS and run + 1 < len(words) and words[run + 1][:1].isupper())
    ):
        run += 1
    opener = here == 0 and words[0].lower() in gazetteer.common and words[0] not in gazetteer.first_names
    if words[here].lower() in TITLES or (opener and run - here > 1):
        return here + 1, ""
    inside = words[here:run]
    known = gazetteer.kinds.get(" ".join(inside), "")
    if len(inside) == 1:
        word = inside[0]
        doubtful = word in gazetteer.surnames or word.lower() in gazetteer.common
        return run, "" if doubtful else known
    return run, known or _tail_kind(inside) or _person(inside, gazetteer)


def _tail_kind(words: list[str]) -> str:
    """What a name's last word tells, or "University of"."""
    if words[-1] in _ORG_TAIL or words[:2] == ["University", "of"]:
        return "ORG"
    return "LOC" if words[-1] in _PLACE_TAIL else ""


def _person(words: list[str], gazetteer: Gazetteer) -> str:
    plain = len(words) <= 3 and not any(w in LINKS for w in words) and not _ADJECTIVE.match(words[-1])
    return "PERSON" if plain and words[0] in gazetteer.first_names else ""


def wikipedia(corpora: Path, gazetteer: Gazetteer, tokenize: Callable[[str], list[str]]) -> Iterator[Sentence]:
    """Silver sentences from the leads in which at least one name was found.

    In a person's own article the surname alone is that person.
    """
    for paragraphs in articles(corpora):
        found = kind_of(paragraphs[0])
        surname = found[0].split()[-1] if found and found[1] == "PERSON" else None
        for sentence in _sentences(paragraphs[0], tokenize):
            tags = label(sentence, gazetteer)
            for position, word in enumerate(sentence):
                alone = position + 1 == len(sentence) or not sentence[position + 1][:1].isupper()
                alone = alone and (position == 0 or not sentence[position - 1][:1].isupper())
                if word == surname and alone and tags[position] in "O-":
                    tags[position] = "U-PERSON"
            if any(tag[0] in "BU" for tag in tags):
                yield with_dates(Sentence(sentence, entities=tags))


def _sentences(text: str, tokenize: Callable[[str], list[str]]) -> Iterator[list[str]]:
    for part in re.split(r"(?<=[a-z0-9)]\.)\s+(?=[A-Z])", text):
        words = tokenize(part)
        if 5 <= len(words) <= 60:
            yield words


def treebank(sentences: Iterable[Sentence], gazetteer: Gazetteer) -> Iterator[Sentence]:
    """Silver names in a treebank, document by document.

    Its proper nouns say where names are: elsewhere there is none. A run of them is named by the gazetteer, by
    its tree (names of persons are ``flat``, what follows "in" is a place), or by a longer name of the same
    document; if nothing tells, it is left open.
    """
    everything = list(sentences)
    companies = _companies(everything, gazetteer)
    for _, group in groupby(everything, key=lambda s: s.document):
        document = list(group)
        found = [
            [(first, last, _kind(s, first, last, gazetteer, companies)) for first, last in _runs(s)] for s in document
        ]
        persons = {
            word
            for s, runs in zip(document, found, strict=True)
            for first, last, kind in runs
            if kind == "PERSON" and last > first
            for word in s.words[first : last + 1]
        }
        for s, runs in zip(document, found, strict=True):
            tags = ["-" if pos == "ADJ" and w[:1].isupper() else "O" for w, pos in zip(s.words, s.pos, strict=True)]
            for first, last, kind in runs:
                known = kind or ("PERSON" if first == last and s.words[first] in persons else "")
                width = last - first + 1
                tags[first : last + 1] = spans_to_biluo(width, [(0, width - 1, known)]) if known else ["-"] * width
            yield with_dates(Sentence(s.words, s.document, s.spaces, entities=tags))


def _companies(sentences: list[Sentence], gazetteer: Gazetteer) -> set[str]:
    """First words of organizations' longer names, such as Enron of "Enron Corp.": alone they name the same."""
    firsts = {
        s.words[first] for s in sentences for first, last in _runs(s) if last > first and s.words[last] in _ORG_TAIL
    }
    known = gazetteer.kinds.keys() | gazetteer.first_names
    return {word for word in firsts - known if word.lower() not in gazetteer.common}


def _runs(sentence: Sentence) -> Iterator[tuple[int, int]]:
    """Runs of proper nouns, (first, last), without leading titles; "of" and hyphens may stand inside."""
    proper = [pos == "PROPN" and not _CALENDAR.match(w) for pos, w in zip(sentence.pos, sentence.words, strict=True)]
    here = 0
    while here < len(proper):
        if not proper[here] or sentence.words[here].lower() in TITLES:
            here += 1
            continue
        last = here
        while last + 1 < len(proper) and (
            proper[last + 1]
            or (sentence.words[last + 1] in ("of", "-", "&") and last + 2 < len(proper) and proper[last + 2])
        ):
            last += 1
        yield here, last
        here = last + 1


def _kind(sentence: Sentence, first: int, last: int, gazetteer: Gazetteer, companies: set[str]) -> str:
    """The kind of the run of proper nouns, or "" if nothing tells."""
    words = sentence.words[first : last + 1]
    if known := gazetteer.kinds.get(" ".join(words)) or gazetteer.kinds.get(" ".join(w.title() for w in words)):
        return known
    if words[0] == "University" or (len(words) == 1 and (words[0] in companies or _ACRONYM.match(words[0]))):
        return "ORG"
    if told := _tail_kind(words):
        return told
    inside = range(first, last + 1)
    flat = any(sentence.relations[k] == "flat" and sentence.heads[k] in inside for k in inside)
    if (flat and last > first) or (words[0].title() in gazetteer.first_names and len(words) <= 3):
        return "PERSON"
    head = next((k for k in inside if sentence.heads[k] not in inside or sentence.heads[k] == k), last)
    cases = [
        w.lower() for k, w in enumerate(sentence.words) if sentence.heads[k] == head and sentence.relations[k] == "case"
    ]
    return "LOC" if cases == ["in"] and sentence.relations[head] in ("obl", "nmod") else ""
