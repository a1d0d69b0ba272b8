"""How long the first visitor of a server waits: its start, its first page, the first analysis, a rerun.

The visitor has no browser; what a browser adds is in ``python -m tests.browser.timings``.
"""

from __future__ import annotations

import asyncio
import time

from benchmarks.results import table
from benchmarks.server import Lab, running_lab, usage
from benchmarks.visitor import visiting

TEXT = "The cat sat on the mat because it was tired."


async def _visit(lab: Lab) -> list[tuple[str, float]]:
    async with visiting(lab.url) as visitor:
        found = [("the course map, first page of the server", (await visitor.open("")).seconds)]
        found.append(("self-attention: first analysis of the server", (await visitor.open("Self-attention")).seconds))
        found.append(("another sentence", (await visitor.open("Self-attention", text=TEXT)).seconds))
        found.append(("another layer of it", (await visitor.choose("layer", "2")).seconds))
        found.append(("that layer again", (await visitor.choose("layer", "2")).seconds))
        return found


def run() -> tuple[list[tuple[str, str]], bool]:
    """Print the times and return them as a section of RESULTS.md; slowness fails nothing here."""
    print("\nA server that nobody has visited\n")
    begin = time.perf_counter()
    with running_lab() as lab:
        rows = [("the server answers", time.perf_counter() - begin), *asyncio.run(_visit(lab))]
        memory = usage(lab.process.pid).megabytes
    lines = [(what, f"{seconds:.2f} s") for what, seconds in rows] + [("resident memory then", f"{memory:.0f} MB")]
    for what, figure in lines:
        print(f"{what:<46} {figure:>10}")
    return [("A server that nobody has visited", table(("what", "figure"), lines))], False
