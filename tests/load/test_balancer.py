"""The balancer that the load test starts is the one that compose.yaml starts."""

from __future__ import annotations

import pytest

from benchmarks.balancer import CONFIG, configured


def test_only_where_the_servers_are_differs() -> None:
    theirs = CONFIG.read_text("utf-8")
    ours = configured(theirs, 9000, ["127.0.0.1:1", "127.0.0.1:2"])
    added = [line for line in ours.splitlines() if line not in theirs.splitlines()]
    gone = [line for line in theirs.splitlines() if line not in ours.splitlines()]
    assert added == ["    bind 127.0.0.1:9000", "    server lab1 127.0.0.1:1", "    server lab2 127.0.0.1:2"]
    assert all(any(word in line for word in ("docker", "nameserver", "hold valid", "bind :8501")) for line in gone)
    assert "cookie replica insert" in ours and "httpchk" in ours


def test_a_file_that_became_another_is_not_guessed_at() -> None:
    with pytest.raises(ValueError, match="0 times"):
        configured("frontend web\n    bind :80\n", 9000, ["127.0.0.1:1"])
