"""The readiness check tells what is wrong in sentences, and its status whether the lab works all the same."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lab import ready
from lab.models import catalogue
from lab.models.catalogue import CATALOGUE, DEFAULT_MODEL, ships
from lab.text import bundled
from tests.audit import verdict


@pytest.fixture(autouse=True)
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of what ships and a database of one's own."""
    folder = tmp_path / "embedded"
    shutil.copytree(catalogue.EMBEDDED, folder)
    monkeypatch.setattr(catalogue, "EMBEDDED", folder)
    monkeypatch.setattr(ready, "EMBEDDED", folder)
    monkeypatch.setenv("LAB_ROOMS", f"sqlite:///{tmp_path / 'rooms.db'}")
    bundled.bundled_sentences.cache_clear()
    return folder


def cut_short(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def test_a_whole_lab_is_ready_and_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert ready.main([]) == 0 and capsys.readouterr().out == ""


def test_a_damaged_default_model_is_told_and_can_be_borne(shipped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cut_short(shipped / DEFAULT_MODEL)
    assert ready.main([]) == 0
    assert f"Damaged or missing: {DEFAULT_MODEL}. Visitors see lab-bert instead." in capsys.readouterr().out


def test_without_any_model_it_is_not_ready(shipped: Path) -> None:
    for entry in filter(ships, CATALOGUE):
        cut_short(shipped / entry.id)
    assert ready.main([]) == 1


@pytest.mark.parametrize("content", [b"", b"x" * 7, b"\xff" * 100, bytes(8) + b"{}", (2).to_bytes(8, "little") + b"[]"])
def test_what_is_no_model_is_not_whole(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    assert not ready.is_whole(path) and not ready.is_whole(tmp_path / "none")


def test_missing_texts_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "SENTENCES", tmp_path / "english.txt")
    (fault,) = ready.faults()
    assert "lab/text/embedded" in fault.sentence and fault.bearable


@pytest.mark.parametrize("url", ["nonsense", "sqlite:////proc/nowhere/rooms.db"])
def test_a_database_that_cannot_be_used_is_told(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("LAB_ROOMS", url)
    (fault,) = ready.faults()
    assert fault.sentence.startswith("Rooms: ") and ready.main([]) == 1


def test_a_server_that_is_silent_is_told() -> None:
    assert ready.main(["http://127.0.0.1:9"]) == 1


def test_an_audit_without_an_answer_is_not_passed() -> None:
    for report in ("", "no JSON", '{"dependencies": []}'):
        lines, status = verdict(report)
        assert status == 1 and lines
    assert verdict('{"dependencies": [{"name": "a", "version": "1", "vulns": []}]}')[1] == 0
