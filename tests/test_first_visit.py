"""The first visit to a new server: it loads everything, and says where no server answers."""

from __future__ import annotations

import pytest

from benchmarks.server import running_lab
from lab import first_visit


def test_after_it_a_lesson_is_there_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    with running_lab() as lab:
        assert first_visit.main([lab.url]) == 0
        again = first_visit.visit(lab.url, ["Self-attention"])
    first = float(capsys.readouterr().out.split(" took ")[1].split(" s;")[0])
    assert again < first / 3, (first, again)


def test_where_no_server_answers_it_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_visit, "_PATIENCE", 0.0)
    assert first_visit.main(["http://127.0.0.1:9"]) == 1
    assert "No server answers" in capsys.readouterr().out
