"""No step holds a core for longer than half a second in one piece, on the longest text that the model reads."""

from __future__ import annotations

import time

import pytest

from benchmarks import pieces
from lab.models.cores import give_way, one_core
from tests.thorough import at_night


def test_the_longest_piece_counts_and_not_the_whole() -> None:
    def work(seconds: float) -> None:
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass

    with pieces.watched() as longest, one_core():
        work(0.05)
        give_way()
        work(0.1)
        give_way()
        work(0.05)
    assert 0.1 <= longest.core < 0.15


@at_night  # a busy machine breaks its bound, which says nothing of the code
@pytest.mark.parametrize("page", ["feed-forward", "masked-language-model", "neuron-view", "flow", "embeddings"])
def test_a_step_is_done_in_short_pieces(page: str) -> None:
    lines = list[str]()
    status = pieces.main(["--only", page, "--models", "lab-minilm"], lines.append)
    assert len(lines) > 2 and status == 0, [line for line in lines if "BROKEN" in line]
