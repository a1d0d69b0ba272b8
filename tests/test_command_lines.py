"""What is typed behind a command is used, or refused in a sentence: no traceback, and nothing begins."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lab import __main__ as started
from lab import ready
from lab.rooms.__main__ import main as rooms
from tests.checkpoints import write_checkpoint


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """The options of the servers that were started."""
    options: list[list[str]] = []
    monkeypatch.setattr(started, "_serve", options.append)
    monkeypatch.setenv("LAB_ALLOW_DOWNLOADS", "")  # so that it is as before after the test
    monkeypatch.delenv("LAB_ALLOW_DOWNLOADS")
    monkeypatch.setenv("LAB_MODELS", "")
    monkeypatch.setenv("LAB_ROOMS", f"sqlite:///{tmp_path / 'rooms.db'}")
    return options


def refused(*words: str) -> int:
    """Start the lab with these words; return the exit status."""
    try:
        return started.main(words)
    except SystemExit as end:
        return int(str(end.code))


@pytest.mark.parametrize("port", ["0", "-1", "65536", "99999", "x", "", "8501.0", "٣٣٣٣", "1e3", " 80"])
def test_a_port_that_is_none(port: str, served: list[list[str]], capsys: pytest.CaptureFixture[str]) -> None:
    assert refused("--port", port) == 2 and not served
    said = capsys.readouterr().err.splitlines()[-1]
    assert "from 1 to 65535" in said or "expected one argument" in said


def test_a_port_that_is_one(served: list[list[str]]) -> None:
    assert (started.main(["--port", "8600"]), started.main([])) == (0, 0)
    assert served == [["--server.address=localhost", "--server.port=8600"], ["--server.address=localhost"]]


@pytest.mark.parametrize(("address", "allowed"), [("localhost", "1"), ("127.0.0.1", "1"), ("0.0.0.0", None)])
def test_only_who_reaches_the_lab_from_this_machine_alone_may_download(
    address: str, allowed: str | None, served: list[list[str]]
) -> None:
    assert started.main(["--address", address, "--no-browser"]) == 0
    assert served == [[f"--server.address={address}", "--server.headless=true"]]
    assert os.environ.get("LAB_ALLOW_DOWNLOADS") == allowed


def test_options_of_streamlit_are_handed_on_and_others_refused(
    served: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert started.main(["--server.headless", "true", "--client.toolbarMode=minimal"]) == 0
    assert served[0][1:] == ["--server.headless", "true", "--client.toolbarMode=minimal"]
    for wrong in ("--nothing", "--server.address=0.0.0.0", "-x"):
        assert refused(wrong) == 2 and wrong.partition("=")[0].split(".")[-1] in capsys.readouterr().err
    assert len(served) == 1


def test_folders_that_cannot_be_offered(
    served: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_separator = write_checkpoint(tmp_path / f"a{os.pathsep}b" / "mine", "bert")

    def closed(folder: Path) -> list[Path]:
        raise PermissionError(13, "Permission denied", str(folder))

    (tmp_path / "file").write_text("")
    cases = [str(tmp_path), str(tmp_path / "none"), str(tmp_path / "file"), "", "\0", "x" * 5000]
    for folder in (*cases, str(with_separator), str(with_separator.parent)):
        assert refused("--models", folder) == 2, folder
        assert capsys.readouterr().err.splitlines()[-1].startswith("inside-bert: ")
    monkeypatch.setattr(Path, "iterdir", closed)  # as in /proc/1, for whoever is not root
    assert refused("--models", str(tmp_path)) == 2
    assert "Permission denied" in capsys.readouterr().err
    assert not served and os.environ["LAB_MODELS"] == ""


def test_folders_that_are_offered(served: list[list[str]], tmp_path: Path) -> None:
    one, two = (write_checkpoint(tmp_path / name, "bert") for name in ("one", "two"))
    assert started.main(["--models", str(tmp_path), "--models", str(one)]) == 0
    assert os.environ["LAB_MODELS"].split(os.pathsep) == [str(one), str(two), str(one)]


@pytest.mark.parametrize(
    "address", ["xyz", "http://[", "http://a b", "ftp:", "http://127.0.0.1:99999", "http://\n", "/"]
)
def test_an_address_that_is_none(address: str, served: list[list[str]], capsys: pytest.CaptureFixture[str]) -> None:
    assert ready.main([address]) == 1
    assert "does not answer" in capsys.readouterr().out


def test_a_folder_without_a_checkpoint_is_told_to_the_operator(
    served: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    there = write_checkpoint(tmp_path / "there", "bert")
    monkeypatch.setenv("LAB_MODELS", os.pathsep.join([str(there), str(tmp_path / "gone"), "~nobody/model"]))
    assert ready.main([]) == 0
    assert [line.split(",")[0].split("/")[-1] for line in capsys.readouterr().out.splitlines()] == ["gone", "model"]


@pytest.mark.parametrize("minutes", ["-5", "-0.1", "nan", "inf", "-inf", "x", ""])
def test_minutes_that_are_none(minutes: str, served: list[list[str]], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        rooms(["delete", "--unused", minutes])
    assert end.value.code == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert "a number from 0" in said or "expected one argument" in said
