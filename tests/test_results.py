"""benchmarks/RESULTS.md: what is written can be read again, a slower ratio is told from a bad moment."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks import results
from benchmarks.measure import Comparison
from benchmarks.results import Ratio, measured


def scripted(*values: float) -> tuple[Callable[[], float], list[float]]:
    """Measurements that give these values in turn, and the values not asked for."""
    left = list(values)
    return lambda: left.pop(0), left


def comparison(measure: Callable[[], float] = lambda: 1.0, target: float = 0.5) -> Comparison:
    return Comparison("ours / theirs, time", 32, target, measure)


def test_what_is_written_can_be_read() -> None:
    ratios = [Ratio(comparison(), 0.25, None), Ratio(Comparison("b / c", 512, 1.0, lambda: 1.0), 0.9, None)]
    text = results.page(
        {}, [("Side by side", results.ratio_table(ratios)), ("Else", results.table(("a", "b"), [(1, 2)]))]
    )
    assert results.recorded(text) == {("ours / theirs, time", 32): 0.25, ("b / c", 512): 0.9}
    assert "| ours / theirs, time | 32 | 0.250 | 4.0 | 0.50 |" in text


def test_one_suite_is_written_alone() -> None:
    first = results.page({"Old": "of another day", "Else": "as it was"}, [])
    again = results.page(results.sections(first), [("Old", "new"), ("More", "| a |")])
    assert results.sections(again) == {
        "Old": f"{results.machine()}.\n\nnew",
        "Else": "as it was",
        "More": f"{results.machine()}.\n\n| a |",
    }
    assert results.page(results.sections(again), []) == again


@pytest.mark.parametrize(
    ("values", "kept", "verdict", "unasked"),
    [
        ((0.47, 9.0), 0.47, "", 1),
        ((0.49, 0.47, 9.0), 0.47, "", 1),
        ((0.49, 0.6, 0.5, 0.7, 9.0), 0.49, "SLOWER", 1),
    ],
)
def test_slower_by_a_fifth_is_slower(values: tuple[float, ...], kept: float, verdict: str, unasked: int) -> None:
    measure, left = scripted(*values)
    found = measured(comparison(measure), {("ours / theirs, time", 32): 0.4})
    assert (found.value, found.verdict, len(left)) == (kept, verdict, unasked)


def test_a_new_comparison_is_held_to_nothing() -> None:
    found = measured(comparison(lambda: 7.0), {})
    assert (found.regressed, found.verdict) == (False, "missed")


def test_the_results_here_meet_what_was_promised() -> None:
    """Over 512 tokens: metrics and specialization of 144 heads 4 times as fast as loops, sentences 20 times."""
    found = results.recorded(results.FILE.read_text("utf-8"))
    assert found["six metrics raw and corrected / loop over heads", 512] <= 1 / 4
    assert found["seven specializations / loop over heads", 512] <= 1 / 4
    assert found["attention between 8 sentences / token pairs", 512] <= 1 / 20
