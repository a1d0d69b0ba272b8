"""A model or a tool that cannot be had: one sentence on the page, and the default model's numbers below it."""

from __future__ import annotations

import errno
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from huggingface_hub.errors import LocalEntryNotFoundError
from streamlit.testing.v1 import AppTest

from lab.models import catalogue, hub, loading
from lab.models.catalogue import DEFAULT_MODEL, ModelCard, ModelUnavailable
from lab.text import bundled
from lab.text.sentences import punkt
from lab.text.tags import pipeline
from lab.ui import download_offer as ui_downloads
from lab.ui import long_work
from lab.ui.visitor import Visitor
from tests.conftest import TinyCheckpoint
from tests.pages.apptest import Offer, badges, open_badge, press, step_of, turn_to, visit, walk, words
from tests.thorough import one_by_day

PAGE = "3_Self-attention.py"
INSTEAD = f"You see {DEFAULT_MODEL} instead."


@pytest.fixture(autouse=True)
def _fresh_caches() -> None:
    """What a broken model or tool left behind is not the next test's."""
    st.cache_resource.clear()
    st.cache_data.clear()


def works(at: AppTest, model: str) -> None:
    """The page's sentence about ``model`` is the only one, the model stays selected, the default one's map is there."""
    (warning,) = at.warning
    assert warning.value.endswith(INSTEAD)
    assert "Traceback" not in warning.value and "\n" not in warning.value
    assert at.selectbox(key="model").value == model
    assert at.selectbox(key="layer").options == ["1", "2", "3", "4", "5", "6"], "the layers of the default model"
    turn_to(at, "build-a-row")
    assert not at.error
    assert step_of(at) == "build-a-row" and "W_Q" in words(at)
    assert "steps match Hugging Face" in badges(open_badge(at))[0]


def _cut_short(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def test_a_model_without_a_head_predicts_no_words_and_does_all_else(offer: Offer) -> None:
    name = offer("bert-headless")
    at = visit("9_Masked_language_model.py", model=name)
    assert "came without a vocabulary head" in words(at)
    at.switch_page(f"pages/{PAGE}").run()
    turn_to(at, "map")
    assert not at.warning
    assert at.selectbox(key="model").value == name
    assert at.selectbox(key="layer").options == ["1", "2"]


class _Hub:
    """A Hub that offers bert-base-uncased and fails when it is downloaded."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def snapshot_download(
        self, repository: str, allow_patterns: list[str], local_files_only: bool = False, tqdm_class: object = None
    ) -> str:
        raise LocalEntryNotFoundError(repository) if local_files_only else self.error


@one_by_day
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionResetError("reset by peer"), "cannot be reached from here"),
        (OSError(errno.ENOSPC, "No space left on device"), "could not be stored here: No space left on device"),
        (PermissionError(errno.EACCES, "Permission denied"), "could not be stored here: Permission denied"),
    ],
)
def test_a_download_that_fails(error: Exception, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "bert-base-uncased"
    monkeypatch.setenv("LAB_ALLOW_DOWNLOADS", "1")
    monkeypatch.setattr(hub, "snapshot_download", _Hub(error).snapshot_download)
    monkeypatch.setattr(hub, "plan", lambda entry: hub.Download(("config.json", "model.safetensors"), entry.megabytes))
    at = visit(PAGE, step="map", model=name)
    assert not at.warning, "nothing is downloaded unasked"
    press(at, "Download 440 MB")
    _when_it_has_ended(at, name)
    assert said in at.warning[0].value.replace("\\", "")
    works(at, name)


def _when_it_has_ended(at: AppTest, model: str) -> None:
    """Wait for the download's own thread, then look again, as the page does by itself every second."""
    end = time.monotonic() + 20
    while (found := hub.running(model)) is not None and found.error is None:
        assert time.monotonic() < end
        time.sleep(0.01)
    at.run()


def test_a_download_shows_its_megabytes_and_the_page_beside_it_goes_on(
    monkeypatch: pytest.MonkeyPatch, tiny_checkpoint: TinyCheckpoint
) -> None:
    name, here, go_on = "modernbert-base", threading.Event(), threading.Event()
    here_is: list[Path] = []

    def download(entry: ModelCard, seen: hub.Seen = lambda arrived, planned: None) -> Path:
        if here_is:  # asked again, by whoever loads it
            return here_is[0]
        seen(140.25, 601)
        here.set()
        assert go_on.wait(20)
        here_is.append(tiny_checkpoint("modernbert"))
        return here_is[0]

    monkeypatch.setenv("LAB_ALLOW_DOWNLOADS", "1")
    monkeypatch.setattr(hub, "download", download)
    monkeypatch.setattr(hub, "cached", lambda entry: here_is[0] if here_is and entry.id == name else None)
    at = visit(PAGE, step="map", model=name)
    press(at, "Download 599 MB")
    assert here.wait(20)
    at.run()
    assert "keep working" in words(at)
    (bar,) = at.get("progress")
    assert "140 of 601 MB" in bar.proto.text.replace("\\", "") and bar.proto.value == 23
    # The page beside it is a page of the default model, and another page says the same.
    turn_to(at, "build-a-row")
    assert step_of(at) == "build-a-row" and "W_Q" in words(at)
    at.switch_page("pages/2_Embeddings.py").run()
    assert at.get("progress")
    go_on.set()
    _when_it_has_ended(at, name)
    assert not at.get("progress") and "not on this machine" not in words(at)
    assert "rows of 32 numbers" in words(at), "the page of the model that has arrived"


def test_a_stopped_download_is_offered_again(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()

    def download(entry: ModelCard, seen: hub.Seen) -> Path:
        assert go_on.wait(20)
        seen(1.0, 601)
        raise AssertionError("it was stopped")

    monkeypatch.setenv("LAB_ALLOW_DOWNLOADS", "1")
    monkeypatch.setattr(hub, "download", download)
    at = visit(PAGE, step="map", model="modernbert-base")
    press(at, "Download 599 MB")
    press(at, "Stop")
    go_on.set()
    assert not at.warning and "stopped this download" in words(at)
    assert any(button.label == "Download 599 MB" for button in at.button)


def test_who_stops_a_download_stops_it_for_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    name, go_on, people = "modernbert-base", threading.Event(), ["one"]

    def download(entry: ModelCard, seen: hub.Seen) -> Path:
        assert go_on.wait(20)
        seen(1.0, 601)
        raise ModelUnavailable("It is over.")

    monkeypatch.setenv("LAB_ALLOW_DOWNLOADS", "1")
    monkeypatch.setattr(hub, "download", download)
    for module in (long_work, ui_downloads):
        monkeypatch.setattr(module, "this_visit", lambda: long_work.Visit(people[0], Visitor(people[0], "")))
    one = visit(PAGE, step="map", model=name)
    press(one, "Download 599 MB")
    people[0] = "another"
    other = visit(PAGE, step="map", model=name)
    press(other, "Stop")
    found = hub.running(name)
    assert found is not None and found.is_watched and "Others wait for this download" in words(other)
    people[0] = "one"
    next(button for button in one.run().button if button.label == "Stop").click().run()
    assert hub.running(name) is None and "stopped this download" in words(one)
    go_on.set()


@pytest.fixture
def forgotten_tagger() -> Iterator[None]:
    """A process keeps its tagger, or that it has none."""
    pipeline._once.cache_clear()
    yield
    pipeline._once.cache_clear()


@pytest.mark.usefixtures("forgotten_tagger")
def test_without_the_tagger_one_lesson_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "EMBEDDED", tmp_path)
    at = visit("6_Head_specialization.py")
    (warning,) = at.warning
    said = warning.value.replace("\\", "")
    assert said.startswith("The spaCy pipeline en_lab cannot be loaded") and "Restore the folder" in said
    assert str(tmp_path) not in said
    turn_to(at, "named-patterns")
    assert not at.warning, "patterns need no parts of speech"
    at.switch_page(f"pages/{PAGE}").run()
    assert not at.warning


def test_without_the_splitter_one_lesson_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(punkt, "EMBEDDED", tmp_path)
    punkt.embedded_tokenizer.cache_clear()
    at = visit("7_Inter-sentence_attention.py", text="The dog ran. It found a ball.")
    for step in walk(at):
        (warning,) = at.warning
        assert warning.value.startswith("The sentence splitter’s parameters cannot be read"), step
    at.switch_page(f"pages/{PAGE}").run()
    assert not at.warning


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of what ships, to be damaged."""
    folder = tmp_path / "embedded"
    shutil.copytree(catalogue.EMBEDDED, folder)
    monkeypatch.setattr(catalogue, "EMBEDDED", folder)
    monkeypatch.setattr(loading, "EMBEDDED", folder)
    return folder


@pytest.mark.parametrize("page", [PAGE, None, "32_Needed_heads.py", "51_Model_view.py", "1_Tokenization.py"])
def test_a_damaged_default_model_gives_way_to_another_that_ships(shipped: Path, page: str | None) -> None:
    _cut_short(shipped / DEFAULT_MODEL)
    at = visit(page)
    assert not at.error
    assert any("is damaged" in each.value and "You see lab-bert instead." in each.value for each in at.warning)
    assert str(shipped.parent) not in words(at)


def test_where_every_model_is_damaged_one_sentence_says_so(shipped: Path) -> None:
    for model in ("lab-minilm", "lab-bert", "lab-gpt2"):
        _cut_short(shipped / model)
    at = visit(PAGE, step="map")
    assert "This server cannot read any of its models" in at.error[0].value


@pytest.mark.parametrize(
    ("page", "step"),
    [("6_Head_specialization.py", "many-sentences"), ("8_Feed-forward_and_LayerNorm.py", "excited-by")],
)
def test_without_the_bundled_texts_a_step_says_so_and_names_no_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str, step: str
) -> None:
    monkeypatch.setattr(bundled, "SENTENCES", tmp_path / "english.txt")
    bundled.bundled_sentences.cache_clear()
    at = visit(page, step=step)
    assert "restore the folder lab/text/embedded" in at.error[0].value
    assert str(tmp_path) not in words(at)
    bundled.bundled_sentences.cache_clear()


@pytest.mark.parametrize("variable", ["HOME", "LAB_ROOMS"])
def test_without_a_database_the_room_says_so(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.delenv("LAB_ROOMS", raising=False)
    monkeypatch.setenv(variable, "/proc/nowhere")  # a home where nobody may write, an address that is none
    at = visit("40_Room.py", room="K7W2QD")
    assert "does not respond" in words(at)
    assert "/proc" not in words(at)
    at = visit(PAGE, room="K7W2QD")
    assert "/proc" not in words(at)
