"""Print every measurement beside its target; fail only where something is broken, not where it is slow.

python -m benchmarks            the engine and the analyses beside others, then the pages, then the views
python -m benchmarks --pages    the pages alone
python -m benchmarks --views    the hand-written views alone
"""

from __future__ import annotations

import argparse
import sys

from benchmarks import analysis, engine, pages, views

SUITES = (engine, analysis)


def ratios() -> int:
    """Run the suites that compare, and return the exit code."""
    print("One thread, both sides in turn in one process; medians of ratios. Below 1.00: less than the other side.\n")
    print(f"{'work':<46} {'tokens':>6} {'ratio':>6} {'target':>7}")
    broken = []
    for suite in SUITES:
        for found in suite.measurements():
            verdict = "" if found.met else "  BROKEN" if found.failed else "  missed"
            print(f"{found.work:<46} {found.tokens:>6} {found.ratio:>6.3f} {found.target:>7.2f}{verdict}", flush=True)
            broken += [found] if found.failed else []
    return 1 if broken else 0


def main() -> int:
    """Run what was asked for and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure the lab.")
    parser.add_argument("--pages", action="store_true", help="the pages")
    parser.add_argument("--views", action="store_true", help="the views")
    asked = parser.parse_args()
    everything = not (asked.pages or asked.views)
    failed = [ratios()] if everything else []
    failed += [pages.main()] if asked.pages or everything else []
    failed += [views.main()] if asked.views or everything else []
    return max(failed)


if __name__ == "__main__":
    sys.exit(main())
