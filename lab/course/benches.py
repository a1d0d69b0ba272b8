"""The benches: where a learner looks around and a researcher takes the numbers, without a course."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bench:
    """One bench. ``page`` is its file in ``pages/``.

    ``toy`` says whether number sentences may be its input, ``weights`` whether random weights may.
    """

    page: str
    title: str
    icon: str
    question: str
    reading: tuple[str, ...]
    toy: bool = True
    weights: bool = True


BENCHES: tuple[Bench, ...] = ()


def bench_of(page_file: str) -> Bench:
    """The bench whose page file has this name. Raises KeyError for a page that is none."""
    for bench in BENCHES:
        if bench.page.endswith(page_file):
            return bench
    raise KeyError(f"{page_file} is not a bench; lab/course/benches.py lists them.")
