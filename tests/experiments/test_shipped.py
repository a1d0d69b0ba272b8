"""A result that ships says by which code it was measured."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lab.experiments import shipped


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    return subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def test_changed_code_is_marked_and_a_result_just_written_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = tmp_path / "lab"
    (lab / "experiments" / "results").mkdir(parents=True)
    code, result, outside = lab / "code.py", lab / "experiments" / "results" / "a.parquet", tmp_path / "README.md"
    for path in (code, result, outside):
        path.write_text("one")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "all")
    head = git(tmp_path, "rev-parse", "HEAD")
    monkeypatch.setattr(shipped, "_LAB", lab)
    assert shipped.commit() == head
    result.write_text("two")
    outside.write_text("two")
    assert shipped.commit() == head
    code.write_text("two")
    assert shipped.commit() == f"{head}+"
