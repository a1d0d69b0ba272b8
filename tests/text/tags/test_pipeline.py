"""lab.text.tags.pipeline: which pipeline is chosen, offsets on every kind of text, and what a broken one says."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language

from lab.text.tags import pipeline as module
from lab.text.tags.pipeline import (
    EMBEDDED,
    MAX_CHARACTERS,
    Pipeline,
    PipelineUnavailable,
    TaggedText,
    load_pipeline,
    tagged_words,
)
from tests.sentences import FOX

# universaldependencies.org/u/pos, and spaCy's own for white space.
UPOS = {
    "ADJ",
    "ADP",
    "ADV",
    "AUX",
    "CCONJ",
    "DET",
    "INTJ",
    "NOUN",
    "NUM",
    "PART",
    "PRON",
    "PROPN",
    "PUNCT",
    "SCONJ",
    "SYM",
    "VERB",
    "X",
    "SPACE",
}


@cache
def loaded() -> Pipeline:
    return load_pipeline()


@pytest.fixture
def shipped() -> Pipeline:
    return loaded()


def hold(tagged: TaggedText, text: str) -> None:
    """What must be true of any text's tags."""
    assert tagged.text == text
    end = 0
    for token in tagged.tokens:
        assert end <= token.start < token.end
        assert text[end : token.start] in ("", " "), "only single spaces stand between tokens"
        assert token.text == text[token.start : token.end]
        assert token.pos in UPOS
        assert 0 <= token.head < len(tagged.tokens)
        assert token.relation
        end = token.end
    assert text[end:] in ("", " ")
    for entity in tagged.entities:
        inside = [t for t in tagged.tokens if entity.start <= t.start and t.end <= entity.end]
        assert (inside[0].start, inside[-1].end) == (entity.start, entity.end)
        assert {t.entity for t in inside} == {entity.label}
    assert sum(e.end > t.start and t.end > e.start for e in tagged.entities for t in tagged.tokens) == sum(
        bool(t.entity) for t in tagged.tokens
    )


def test_a_plain_sentence(shipped: Pipeline) -> None:
    text = "The old cat slept in London."
    tagged = shipped.tag(text)
    hold(tagged, text)
    assert [t.pos for t in tagged.tokens] == ["DET", "ADJ", "NOUN", "VERB", "ADP", "PROPN", "PUNCT"]
    assert [(text[e.start : e.end], e.label) for e in tagged.entities] == [("London", "LOC")]
    cat, slept = tagged.tokens[2], tagged.tokens[3]
    assert (cat.head, cat.relation) == (3, "nsubj")
    assert (slept.head, slept.relation) == (3, "ROOT")


@pytest.mark.parametrize(
    "text",
    [
        " ",
        "\n\n\t ",
        "\0",
        "a\0b \0 c",
        "lone \ud83d high",
        "low \ude00 alone",
        "\ud83d\ude00 as two halves",
        "👩‍👩‍👧 family 👍🏽!",
        "مرحبا بالعالم",
        "漢字かな交じり文",
        "e\u0301a\u0308 combining",
        "\u202eright to left",
        "<b>&amp;</b> [CLS] `x`",
        "a" * 5000,
        "( " * 500,
        "http://a.b/c?d=e#f",
        "ALL CAPITALS IN PARIS",
        "  two  spaces  ",
    ],
    ids=lambda text: repr(text[:12]),
)
def test_odd_texts(shipped: Pipeline, text: str) -> None:
    hold(shipped.tag(text), text)


def test_an_empty_text_has_no_tags(shipped: Pipeline) -> None:
    assert shipped.tag("") == TaggedText("", (), ())


def test_white_space_is_no_part_of_speech(shipped: Pipeline) -> None:
    assert [t.pos for t in shipped.tag("One\n\ntwo").tokens if t.text.isspace()] == ["SPACE"]


@settings(max_examples=60, deadline=None)
@given(text=st.text(st.characters(), max_size=60))
def test_any_string_at_all(text: str) -> None:
    hold(loaded().tag(text), text)


def test_ten_thousand_words(shipped: Pipeline) -> None:
    text = f"{FOX} " * 1111
    tagged = shipped.tag(text)
    hold(tagged, text)
    assert len(tagged.tokens) == 11_110


def test_a_text_beyond_the_limit_is_refused_in_words(shipped: Pipeline) -> None:
    with pytest.raises(ValueError, match=r"1,000,001 characters; the tagger takes up to 1,000,000"):
        shipped.tag("x" * (MAX_CHARACTERS + 1))


def test_a_visitors_words_are_not_kept(shipped: Pipeline) -> None:
    shipped.tag("An ordinary sentence first.")
    before = len(shipped.language.vocab.strings)
    shipped.tag("The zyxwvutsr met the qwertyuiopas at Plonkertown.")
    assert len(shipped.language.vocab.strings) == before
    assert "zyxwvutsr" not in shipped.language.vocab.strings


def test_the_same_text_has_the_same_tags_twice(shipped: Pipeline) -> None:
    text = "Maria Stone works for Enron in Houston, doesn't she?"
    assert shipped.tag(text) == shipped.tag(text)


def test_ours_where_spacys_is_not_installed(shipped: Pipeline) -> None:
    assert "en_core_web_sm" not in sys.modules
    assert shipped.name == "en_lab"
    assert shipped.description == (
        "Tagged by en_lab, the small pipeline that ships with the lab, because en_core_web_sm is not installed here."
    )


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package called en_core_web_sm on the path: a blank pipeline that calls "Apple" an OntoNotes product."""
    package = tmp_path / "en_core_web_sm"
    package.mkdir()
    (package / "__init__.py").write_text(
        "import spacy\ndef load(**overrides):\n    nlp = spacy.blank('en')\n    "
        "nlp.add_pipe('entity_ruler').add_patterns([{'label': 'WORK_OF_ART', 'pattern': 'Apple'}])\n    return nlp\n"
    )
    metadata = tmp_path / "en_core_web_sm-3.8.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: en_core_web_sm\nVersion: 3.8.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield package
    sys.modules.pop("en_core_web_sm", None)


def test_spacys_own_is_preferred_and_keeps_its_labels(installed: Path) -> None:
    chosen = load_pipeline()
    assert chosen.name == "en_core_web_sm"
    assert chosen.description == (
        "Tagged by en_core_web_sm, spaCy's small English pipeline, because it is installed here."
    )
    (entity,) = chosen.tag("An Apple a day").entities
    assert (entity.start, entity.end, entity.label) == (3, 8, "WORK_OF_ART")


def test_an_installed_pipeline_that_does_not_load_is_named(installed: Path) -> None:
    (installed / "__init__.py").write_text("raise ImportError('built for spaCy 2')\n")
    with pytest.raises(PipelineUnavailable, match=r"en_core_web_sm cannot be loaded \(ImportError\).*or uninstall it"):
        load_pipeline()


@pytest.mark.parametrize("damaged", ["config.cfg", "meta.json", "ner/model", "parser/moves", "tokenizer"])
@pytest.mark.parametrize("how", ["missing", "cut short"])
def test_a_damaged_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damaged: str, how: str) -> None:
    folder = tmp_path / "en_lab"
    shutil.copytree(EMBEDDED / "en_lab", folder)
    if how == "missing":
        (folder / damaged).unlink()
    else:
        whole = (folder / damaged).read_bytes()
        (folder / damaged).write_bytes(whole[: len(whole) // 2])
    monkeypatch.setattr(module, "EMBEDDED", tmp_path)
    with pytest.raises(PipelineUnavailable, match=r"en_lab cannot be loaded \(\w+\).*Restore the folder") as raised:
        load_pipeline()
    assert str(tmp_path) not in str(raised.value), "where folders are is the operator's business"


def test_no_folder_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EMBEDDED", tmp_path)
    with pytest.raises(PipelineUnavailable, match="en_lab cannot be loaded"):
        load_pipeline()


def test_every_part_of_speech_has_words() -> None:
    for tag in UPOS:
        assert module.spelled_out(tag).islower()
    assert (module.spelled_out("PROPN"), module.spelled_out("ADP")) == ("proper noun", "adposition")


def test_a_zone_of_memory_is_open_once_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What spaCy frees at the end of a zone may be what another thread still reads."""
    inside, real = threading.Event(), Language.memory_zone
    open_now, most = set[str](), list[int]()

    @contextmanager
    def counted(self: Language, mem: object = None) -> Iterator[object]:
        open_now.add(threading.current_thread().name)
        most.append(len(open_now))
        with real(self) as pool:
            yield pool
        open_now.discard(threading.current_thread().name)

    def slowly() -> Iterator[list[str]]:
        yield ["The", "cat", "slept"]
        inside.set()
        time.sleep(0.3)
        yield ["It", "rained"]

    wanted = tagged_words([["The", "cat", "slept"], ["It", "rained"]])
    monkeypatch.setattr(Language, "memory_zone", counted)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(tagged_words, slowly())
        assert inside.wait(10)
        assert tagged_words([["It", "rained"]]) == wanted[1:]
        assert first.result() == wanted
    assert most == [1, 1]
