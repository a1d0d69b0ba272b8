"""The words and the frames from which :mod:`lab.evidence.pairs` makes minimal pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Forms = tuple[str, ...]

_MEN: tuple[Forms, ...] = tuple(
    (one, many, "himself", "themselves")
    for one, many in (
        ("boy", "boys"),
        ("man", "men"),
        ("king", "kings"),
        ("brother", "brothers"),
        ("son", "sons"),
        ("father", "fathers"),
        ("husband", "husbands"),
        ("prince", "princes"),
        ("gentleman", "gentlemen"),
        ("priest", "priests"),
    )
)
_WOMEN: tuple[Forms, ...] = tuple(
    (one, many, "herself", "themselves")
    for one, many in (
        ("girl", "girls"),
        ("woman", "women"),
        ("lady", "ladies"),
        ("queen", "queens"),
        ("sister", "sisters"),
        ("daughter", "daughters"),
        ("mother", "mothers"),
        ("wife", "wives"),
        ("nun", "nuns"),
        ("princess", "princesses"),
    )
)
_PEOPLE: tuple[Forms, ...] = (
    *(each[:2] for each in _MEN + _WOMEN),
    ("child", "children"),
    ("doctor", "doctors"),
    ("teacher", "teachers"),
    ("student", "students"),
    ("soldier", "soldiers"),
    ("friend", "friends"),
    ("writer", "writers"),
    ("player", "players"),
    ("officer", "officers"),
    ("author", "authors"),
    ("artist", "artists"),
    ("worker", "workers"),
    ("judge", "judges"),
    ("leader", "leaders"),
    ("member", "members"),
    ("farmer", "farmers"),
)
_THINGS: tuple[Forms, ...] = (
    ("house", "houses"), ("tree", "trees"), ("car", "cars"), ("book", "books"), ("river", "rivers"), ("door", "doors"),
    ("window", "windows"), ("church", "churches"), ("school", "schools"), ("town", "towns"), ("ship", "ships"),
    ("letter", "letters"), ("song", "songs"), ("game", "games"), ("hill", "hills"), ("street", "streets"),
    ("boat", "boats"), ("picture", "pictures"), ("story", "stories"), ("flower", "flowers"), ("stone", "stones"),
    ("horse", "horses"), ("dog", "dogs"), ("bird", "birds"),
)  # fmt: skip
# The singular, the plural and one following word that fits both, so that a template's sentences have equal lengths.
_VERBS: tuple[Forms, ...] = (
    ("is", "are", "happy"),
    ("is", "are", "old"),
    ("is", "are", "here"),
    ("was", "were", "young"),
    ("was", "were", "tired"),
    ("was", "were", "there"),
    ("has", "have", "time"),
    ("has", "have", "money"),
    ("does", "do", "nothing"),
    ("needs", "need", "help"),
    ("wants", "want", "help"),
    ("knows", "know", "everything"),
    ("lives", "live", "here"),
    ("works", "work", "there"),
    ("looks", "look", "good"),
    ("comes", "come", "back"),
)
_SEEN: tuple[Forms, ...] = tuple((verb,) for verb in ("saw", "found", "liked", "wanted", "remembered", "took", "left"))
_MET: tuple[Forms, ...] = tuple(
    (verb,) for verb in ("loved", "saw", "knew", "met", "helped", "followed", "called", "found", "asked", "told")
)
_TO_ONESELF: tuple[Forms, ...] = tuple(
    (verb,) for verb in ("hurt", "saw", "killed", "helped", "called", "asked", "taught", "found", "loved", "saved")
)
_PREPOSITIONS: tuple[Forms, ...] = tuple((each,) for each in ("near", "behind", "beside", "above", "with", "by"))
_DETERMINERS: tuple[Forms, ...] = (("this", "these"), ("that", "those"))
_WE: tuple[Forms, ...] = (("They",), ("We",), ("I",), ("He",), ("She",))


@dataclass(frozen=True)
class Template:
    """A sentence frame and the words for its slots.

    Attributes
    ----------
    id, name
        An identifier for code, and a name for readers.
    frame
        The sentence: the two forms compete at ``{blank}``; ``{tail}`` is the word after the verb.
    slots
        The words of each slot. The first two forms are the singular and the plural; a single form fits both.
    deciding
        The slot whose word has the number (singular or plural) of the sentence; all other words with two forms have
        the opposite number.
    forms
        The slot that holds the two forms for the blank, and the index of the first of these forms among the forms of a
        word in this slot.
    decided_after
        True if the deciding word comes after the blank, where a causal model does not see it.
    """

    id: str
    name: str
    frame: str
    slots: Mapping[str, tuple[Forms, ...]]
    deciding: str = "noun"
    forms: tuple[str, int] = ("verb", 0)
    decided_after: bool = False


TEMPLATES: tuple[Template, ...] = (
    Template("simple", "subject and verb", "The {noun} {blank} {tail}.", {"noun": _PEOPLE, "verb": _VERBS}),
    Template(
        "prepositional",
        "subject and verb across a prepositional phrase",
        "The {noun} {preposition} the {attractor} {blank} {tail}.",
        {"noun": _PEOPLE, "preposition": _PREPOSITIONS, "attractor": _THINGS, "verb": _VERBS},
    ),
    Template(
        "object_relative",
        "subject and verb across an object relative clause",
        "The {noun} that the {attractor} {relative} {blank} {tail}.",
        {"noun": _PEOPLE, "attractor": _PEOPLE, "relative": _MET, "verb": _VERBS},
    ),
    Template(
        "determiner_noun",
        "determiner and noun",
        "{subject} {verb} {determiner} {blank}.",
        {"subject": _WE, "verb": _SEEN, "determiner": _DETERMINERS, "noun": _THINGS},
        deciding="determiner",
        forms=("noun", 0),
    ),
    Template(
        "noun_determiner",
        "noun and determiner",
        "{subject} {verb} {blank} {noun}.",
        {"subject": _WE, "verb": _SEEN, "determiner": _DETERMINERS, "noun": _THINGS},
        forms=("determiner", 0),
        decided_after=True,
    ),
    Template(
        "reflexive",
        "subject and reflexive",
        "The {noun} {verb} {blank}.",
        {"noun": _MEN + _WOMEN, "verb": _TO_ONESELF},
        forms=("noun", 2),
    ),
)
