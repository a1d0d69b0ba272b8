"""The first visit to a new server says where no server answers; test_installed.py makes one to a server."""

from __future__ import annotations

import pytest

from lab import first_visit


def test_where_no_server_answers_it_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_visit, "_PATIENCE", 0.0)
    assert first_visit.main(["http://127.0.0.1:9"]) == 1
    assert "No server answers" in capsys.readouterr().out
