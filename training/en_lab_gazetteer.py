"""Names by kind for ``en_lab``, from what an encyclopedia's first sentences say about what they define.

The annotated name corpora are small, and a small network cannot guess that Leeds is a place. The article
"Leeds is a city in …" says so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from training.en_lab_corpora import TITLES
from training.en_lab_data import Sentence, lines, word_set

_LEAD = re.compile(
    r"(?:The |An? )?(?P<name>[A-ZÀ-Þ][^,()\"]{1,50}?) ?(?P<aside>\([^)]*\))?,? "
    r"(?:is|was|are|were) (?:an?|the|one of) (?P<what>[^.;]{3,120})"
)
_LIFE = re.compile(r"\bborn\b|\d{3,4}\s*[–-]\s*.*\d{3,4}")
_PLACE = word_set(
    "city town village municipality country state river lake mountain island islands county province region district "
    "borough commune port sea bay peninsula desert continent suburb republic territory archipelago nation kingdom "
    "prefecture canton strait valley neighborhood neighbourhood street park airport stadium capital volcano"
)
_BODY = word_set(
    "company corporation university college organization organisation party band team club agency newspaper magazine "
    "league association bank airline institute union manufacturer network publisher retailer conglomerate "
    "broadcaster federation ministry subsidiary brewery label"
)
_PERSON = word_set(
    "actor actress singer songwriter musician composer writer author novelist poet playwright journalist politician "
    "lawyer physicist chemist mathematician biologist economist philosopher historian theologian astronomer scientist "
    "engineer inventor painter sculptor architect artist director producer comedian footballer player cricketer golfer "
    "boxer driver coach explorer general admiral king queen emperor pope bishop saint statesman president minister "
    "businessman entrepreneur programmer guitarist pianist drummer rapper model psychologist physician"
)
LINKS = word_set("of de the von van da di del la")


@dataclass(frozen=True)
class Gazetteer:
    """Names by kind. ``kinds`` maps a name (words joined by a space) to its label, ambiguous names left out;
    ``first_names`` and ``surnames`` are single words of persons' names; ``common`` words also stand in lower case."""

    kinds: dict[str, str]
    first_names: frozenset[str]
    surnames: frozenset[str]
    common: frozenset[str]


def articles(corpora: Path) -> Iterator[list[str]]:
    """The Wikipedia articles' paragraphs, document by document."""
    paragraphs: list[str] = []
    for line in lines(corpora / "wikipedia-en-2015.txt.xz"):
        if line.strip():
            paragraphs.append(line.strip())
        elif paragraphs:
            yield paragraphs
            paragraphs = []
    if paragraphs:
        yield paragraphs


def kind_of(lead: str) -> tuple[str, str] | None:
    """(name, label) that an article's first sentence gives, if it is of a kind we know."""
    match = _LEAD.match(lead[:400])
    if not match:
        return None
    name = match["name"].strip()
    words = name.split()
    if len(words) > 5 or not all(w[:1].isupper() or w in LINKS for w in words):
        return None
    what = [w.strip(",") for w in match["what"].split()]
    head = set(what[:8])
    lived = bool(match["aside"] and _LIFE.search(match["aside"]))
    if (lived or head & _PERSON) and not head & (_PLACE | _BODY):
        return (name, "PERSON") if 1 < len(words) <= 4 and not {"of", "the", "and"} & set(words) else None
    # The first of the telling words decides: "a city and district in the state of …", "a company in the city of …".
    for word in what[:8]:
        if word in _PLACE:
            return name, "LOC"
        if word in _BODY:
            return name, "ORG"
    return None


def read_gazetteer(corpora: Path, annotated: Iterable[Sentence]) -> Gazetteer:
    """Names from Wikipedia's leads and from ``annotated`` sentences, countries and capitals from the Factbook,
    given names and surnames from the persons among them."""
    kinds: dict[str, Counter[str]] = {}
    first, last, lower = Counter[str](), Counter[str](), Counter[str]()
    mentions = Counter(name for sentence in annotated for name in _names(sentence))
    for (name, kind), times in mentions.items():
        words = name.split()
        plain = words[0][:1].isupper() and all(w[:1].isupper() or w in LINKS for w in words)
        if plain and kind != "DATE" and words[0] != "The" and (len(words) > 1 or times > 1):
            kinds.setdefault(name, Counter())[kind] += times
        if kind == "PERSON" and 1 < len(words) <= 3 and words[0][:1].isupper():
            first[words[0]] += 1
            last[words[-1]] += 1
    for paragraphs in articles(corpora):
        lower.update(word for word in paragraphs[0].split() if word.islower())
        found = kind_of(paragraphs[0])
        if found:
            kinds.setdefault(found[0], Counter())[found[1]] += 2
            if found[1] == "PERSON":
                first[found[0].split()[0]] += 1
                last[found[0].split()[-1]] += 1
    for line in lines(corpora / "factbook.txt.xz"):
        match = re.match(r"The capital of ([A-Z][\w ]+) is ([A-Z][\w ]+)\.$", line)
        for place in match.groups() if match else ():
            kinds.setdefault(place, Counter())["LOC"] += 20
    clear = {name: kind for name, seen in kinds.items() for kind, k in seen.items() if k >= 0.75 * seen.total()}
    places = {name for name, label in clear.items() if label == "LOC"}
    return Gazetteer(
        clear,
        frozenset(
            n
            for n, k in first.items()
            if k >= 2 and n not in places and len(n) > 2 and n.isalpha() and n.lower() not in TITLES
        ),
        frozenset(n for n, k in last.items() if k >= 2 and n not in places and len(n) > 2),
        frozenset(w for w, k in lower.items() if k >= 5),
    )


def _names(sentence: Sentence) -> Iterator[tuple[str, str]]:
    start = 0
    for position, tag in enumerate(sentence.entities):
        if tag[0] in "BU":
            start = position
        if tag[0] in "LU":
            yield " ".join(sentence.words[start : position + 1]), tag[2:]
