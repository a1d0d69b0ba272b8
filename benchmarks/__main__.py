"""Measure the lab; fail where it is slower beside others than benchmarks/RESULTS.md says, or above a bound.

python -m benchmarks            everything below
python -m benchmarks --ratios   the engine and the analyses beside others
python -m benchmarks --pages    reruns of every page
python -m benchmarks --start    a server nobody has visited
python -m benchmarks --memory   what that server's memory peaks at, lesson by lesson
python -m benchmarks --write    everything, written to RESULTS.md; --pages --write, those sections alone
"""

from __future__ import annotations

import argparse
import sys

from benchmarks import analysis, engine, guessing, new_server, pages, results
from benchmarks.results import Ratio

SUITES = (engine, analysis, guessing)


def ratios(known: dict[tuple[str, int], float]) -> list[Ratio]:
    """Run the suites that compare, and print each ratio as it comes."""
    print("One thread, both sides in turn in one process; medians of ratios. Below 1.00: less than the other side.\n")
    print(f"{'work':<46} {'tokens':>6} {'ratio':>6} {'before':>6} {'target':>7}")
    found = []
    for suite in SUITES:
        for comparison in suite.comparisons():
            one = results.measured(comparison, known)
            before = "" if one.known is None else f"{one.known:.3f}"
            print(
                f"{comparison.work:<46} {comparison.tokens:>6} {one.value:>6.3f} {before:>6} "
                f"{comparison.target:>7.2f}  {one.verdict}".rstrip(),
                flush=True,
            )
            found.append(one)
    return found


def main() -> int:
    """Measure what was asked for and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure the lab.")
    suites = {"pages": pages.run, "start": new_server.start, "memory": new_server.memory}
    names = ("ratios", *suites)
    for name in (*names, "write"):
        parser.add_argument(f"--{name}", action="store_true")
    asked = parser.parse_args()
    wanted = [name for name in names if getattr(asked, name)]
    wanted = wanted or list(names)
    sections, broken = [], False
    written = results.FILE.read_text("utf-8") if results.FILE.exists() else ""
    if "ratios" in wanted:
        # What is written anew is held to its targets by the reader, not to the file it replaces.
        compared = ratios({} if asked.write else results.recorded(written))
        sections.append(("Side by side", results.ratio_table(compared)))
        broken |= any(each.regressed for each in compared)
    for name, measure in suites.items():
        if name in wanted:
            found, failed = measure()
            sections += found
            broken |= failed
    if asked.write:
        results.FILE.write_text(results.page(results.sections(written), sections), "utf-8")
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
