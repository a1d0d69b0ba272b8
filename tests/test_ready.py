"""The readiness check tells what is wrong in sentences, and its status whether the lab works all the same."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import time
from pathlib import Path

import pytest
from safetensors import safe_open
from sqlalchemy import create_engine, text

from lab import ready
from lab.models import catalogue
from lab.models.catalogue import CATALOGUE, DEFAULT_MODEL, ships
from lab.rooms.database import open_database
from lab.rooms.rooms import Rooms
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


def test_flipped_bytes_are_told_though_the_file_opens(shipped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = shipped / DEFAULT_MODEL / "model.safetensors"
    content = bytearray(path.read_bytes())
    content[-200_000:] = bytes(255 - each for each in content[-200_000:])
    path.write_bytes(content)
    with safe_open(path, framework="np") as opened:
        assert opened.keys()
    assert ready.main([]) == 0 and f"Damaged or missing: {DEFAULT_MODEL}." in capsys.readouterr().out


def test_the_checksums_are_those_of_the_weights_that_ship() -> None:
    for entry in filter(ships, CATALOGUE):
        digest = hashlib.sha256((catalogue.EMBEDDED / entry.id / "model.safetensors").read_bytes()).hexdigest()
        assert catalogue.recorded(catalogue.EMBEDDED)[entry.id] == digest


def test_the_check_changes_nothing_and_waits_for_no_writer(tmp_path: Path) -> None:
    path = tmp_path / "rooms.db"
    assert ready.main([]) == 0 and not path.exists(), "the first room makes the file"
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE other (id INTEGER)"))
    before = path.read_bytes()
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    begun = time.monotonic()
    assert ready.main([]) == 0 and time.monotonic() < begun + 3
    writer.execute("ROLLBACK")
    assert path.read_bytes() == before, "no table of ours was made"


def test_a_damaged_file_of_rooms_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rooms.db"
    rooms = Rooms(open_database(f"sqlite:///{path}"))
    for _ in range(20):
        rooms.create()
    rooms._engine.dispose()
    content = bytearray(path.read_bytes())
    content[4096 : len(content) // 2] = bytes(len(content) // 2 - 4096)
    path.write_bytes(content)
    assert ready.main([]) == 1 and capsys.readouterr().out.startswith("Rooms: ")


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
