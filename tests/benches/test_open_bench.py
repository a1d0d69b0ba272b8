"""A bench finds the file of each step by the step's id, and names a step without one."""

from __future__ import annotations

import pytest

from lab.benches.open_bench import view_file
from lab.course.pages import BENCHES, Bench, bench_of


@pytest.mark.parametrize("bench", BENCHES, ids=lambda bench: bench.id)
def test_every_view_has_a_file(bench: Bench) -> None:
    for id in [step.id for step in bench.steps] or [""]:
        assert callable(view_file(bench, id).show)


def test_a_step_without_a_file_is_named() -> None:
    with pytest.raises(ValueError, match=r"flow: the step missing has no file missing\.py beside bench\.toml"):
        view_file(bench_of("flow"), "missing")
    with pytest.raises(ValueError, match=r"neuron-view: pattern\.py has no function show\(view\)"):
        view_file(bench_of("neuron-view"), "pattern")
