"""Parts of speech, named entities and dependencies of a text, by a spaCy pipeline.

spaCy's own ``en_core_web_sm`` is used if it is installed; otherwise ``en_lab``, the small pipeline
that ships with the lab. Every tag has its character offsets, by which it is assigned to model tokens;
strings are never compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

EMBEDDED = Path(__file__).parents[1] / "embedded"
PREFERRED = "en_core_web_sm"
SHIPPED = "en_lab"
MAX_CHARACTERS = 1_000_000
_LOADING = Lock()
_SURROGATE = re.compile("[\ud800-\udfff]")


class PipelineUnavailable(RuntimeError):
    """Raised if the spaCy pipeline cannot be loaded; the message names the pipeline and a remedy."""


@dataclass(frozen=True, slots=True)
class TaggedToken:
    """One spaCy token: a word, a part of a contraction, a sign or a run of white space.

    Attributes
    ----------
    text
        The token's characters, ``text[start:end]`` of the whole text.
    start, end
        Character offsets into the whole text.
    pos
        The token's universal part of speech, such as NOUN (universaldependencies.org/u/pos); SPACE for white space.
    entity
        The label of the entity that contains the token, or "".
    head
        Position of the token's head; the token's own position at the root of a sentence.
    relation
        Name of the dependency on the head, in the pipeline's own scheme; ROOT at the root.
    """

    text: str
    start: int
    end: int
    pos: str
    entity: str
    head: int
    relation: str


@dataclass(frozen=True, slots=True)
class Entity:
    """A named entity: characters ``start`` to ``end`` of the text, and the pipeline's label."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class TaggedText:
    """A text with the tags of its n spaCy tokens and its entities, both in reading order."""

    text: str
    tokens: tuple[TaggedToken, ...]
    entities: tuple[Entity, ...]


@dataclass(frozen=True)
class Pipeline:
    """A loaded pipeline. ``description`` names the pipeline and says in one sentence why it was chosen."""

    name: str
    description: str
    language: Language = field(repr=False)
    _turn: Lock = field(default_factory=Lock, repr=False, compare=False)

    def tag(self, text: str) -> TaggedText:
        """Tag a text.

        Parameters
        ----------
        text
            Any string of up to ``MAX_CHARACTERS`` characters. A surrogate, which spaCy cannot read, is tagged as if it
            were U+FFFD and keeps its place.

        Returns
        -------
        Tokens and entities. The offsets count characters of ``text`` as given, and a token's text is the slice at its
        offsets. An empty text has no tokens and no entities.

        Raises
        ------
        ValueError
            If the text is longer than ``MAX_CHARACTERS``.
        """
        if len(text) > MAX_CHARACTERS:
            raise ValueError(f"The text has {len(text):,} characters; the tagger takes up to {MAX_CHARACTERS:,}.")
        readable = _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)
        with self.alone() as language:
            return _tagged(text, language(readable))

    @contextmanager
    def alone(self) -> Iterator[Language]:
        """The pipeline for one thread, which forgets the words that it meets, with all that was made of them.

        Without a memory zone, spaCy would keep every new word forever; only one zone may be open at a time.
        """
        with self._turn, self.language.memory_zone():
            yield self.language


def _tagged(text: str, doc: Doc) -> TaggedText:
    tokens = []
    for token in doc:
        start, end, kind = token.idx, token.idx + len(token), "SPACE" if token.is_space else token.pos_
        tokens.append(TaggedToken(text[start:end], start, end, kind, token.ent_type_, token.head.i, token.dep_))
    return TaggedText(text, tuple(tokens), tuple(Entity(e.start_char, e.end_char, e.label_) for e in doc.ents))


def load_pipeline() -> Pipeline:
    """Load ``en_core_web_sm`` if it is installed, else ``en_lab``; takes about a second, so keep the result.

    Raises
    ------
    PipelineUnavailable
        If that pipeline is damaged or does not fit the installed spaCy.
    """
    if find_spec(PREFERRED) is not None:
        return Pipeline(
            PREFERRED,
            f"Tagged by {PREFERRED}, spaCy's small English pipeline, because it is installed here.",
            _load(PREFERRED, f"Install it again, or uninstall it and the lab uses its own {SHIPPED}."),
        )
    return Pipeline(
        SHIPPED,
        f"Tagged by {SHIPPED}, the small pipeline that ships with the lab, because {PREFERRED} is not installed here.",
        _load(EMBEDDED / SHIPPED, "Restore the folder from the repository."),
    )


@lru_cache(maxsize=1)
def _once() -> Pipeline | PipelineUnavailable:
    try:
        return load_pipeline()
    except PipelineUnavailable as error:
        return error  # the error is cached, so that not every caller tries to load the pipeline again


def pipeline() -> Pipeline:
    """Return the result of :func:`load_pipeline`, loaded once for all callers. Raises PipelineUnavailable."""
    with _LOADING:
        found = _once()
    if isinstance(found, PipelineUnavailable):
        raise found
    return found


@lru_cache(maxsize=1)
def _shipped() -> Pipeline:
    language = _load(EMBEDDED / SHIPPED, "Restore the folder from the repository.")
    return Pipeline(SHIPPED, f"Tagged by {SHIPPED}.", language)


def tagger_files() -> tuple[Path, ...]:
    """Return the files of ``en_lab`` that decide a part of speech."""
    folder = EMBEDDED / SHIPPED
    return tuple(sorted(path for part in ("tok2vec", "morphologizer", "vocab") for path in (folder / part).iterdir()))


def tagged_words(sentences: Iterable[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Return the universal part of speech of each word, for sentences that are cut into words already.

    Always by ``en_lab``, whatever else is installed, so that a result does not depend on the machine. Raises
    PipelineUnavailable if it is damaged.
    """
    from spacy.tokens import Doc

    with _LOADING:
        shipped = _shipped()
    with shipped.alone() as language:
        docs: Iterable[Doc] = (Doc(language.vocab, list(words)) for words in sentences)
        for part in ("tok2vec", "morphologizer"):
            component: Any = language.get_pipe(part)
            docs = component.pipe(docs, batch_size=256)
        return tuple(tuple(token.pos_ for token in doc) for doc in docs)


def spelled_out(tag: str) -> str:
    """Return a part of speech in words: "proper noun" for PROPN. Raises KeyError if ``tag`` is not a universal tag."""
    from spacy.glossary import GLOSSARY

    words: str = GLOSSARY[tag]
    return words


def _load(source: str | Path, remedy: str) -> Language:
    import spacy

    name = source if isinstance(source, str) else source.name
    try:
        return spacy.load(source, exclude=["lemmatizer"])
    except (OSError, ValueError, ImportError, LookupError, TypeError, AttributeError) as error:
        # Leave out spaCy's own message, because it contains the folder's path, which is private to the operator.
        raise PipelineUnavailable(
            f"The spaCy pipeline {name} cannot be loaded ({type(error).__name__}). {remedy}"
        ) from error
