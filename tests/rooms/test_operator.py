"""The operator's command: every room in a list, one of them deleted, and what is told where neither can be."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.rooms.__main__ import main
from lab.rooms.rooms import Rooms
from tests.rooms.test_rooms import opened


def test_rooms_are_listed_and_deleted(
    rooms: Rooms, url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LAB_ROOMS", url)
    code, key, _ = opened(rooms, 3)
    empty, _ = rooms.create()
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    (_, first, second) = (line.split() for line in out.splitlines())
    assert first[:4] == [code, "3", "1", "open"] and second[:4] == [empty, "0", "0", "lobby"]
    assert key not in out and "Which?" not in out
    assert main(["delete", f"{code[:3].lower()} {code[3:]}"]) == 0
    assert rooms.states().keys() == {empty}
    assert main(["delete", code]) == main(["delete", "nonsense"]) == 1
    assert "no room" in capsys.readouterr().err and rooms.states().keys() == {empty}
    others = [rooms.create()[0] for _ in range(3)]
    assert main(["delete", others[0], others[1]]) == 0 and rooms.states().keys() == {empty, others[2]}
    assert main(["delete", "--unused", "5"]) == 0 and rooms.states().keys() == {empty, others[2]}
    assert main(["delete", "--unused", "0"]) == 0 and not rooms.states()
    for nothing in (["delete"], ["delete", code, "--unused", "0"]):
        with pytest.raises(SystemExit):
            main(nothing)


def test_a_database_that_does_not_answer_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rooms.db").write_bytes(b"no database" * 1000)
    monkeypatch.setenv("LAB_ROOMS", f"sqlite:///{tmp_path / 'rooms.db'}")
    assert main(["list"]) == 1
    assert "does not answer" in capsys.readouterr().err
