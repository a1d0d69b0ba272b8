"""RESULTS.md: the figures of each suite's last run, and the ratios that later runs are held to."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import torch

from benchmarks.measure import Comparison

FILE = Path(__file__).with_name("RESULTS.md")
TOLERANCE = 1.2
RETRIES = 3


@dataclass(frozen=True)
class Ratio:
    """A comparison that was measured; ``known`` is the ratio of RESULTS.md, None where it has none yet."""

    of: Comparison
    value: float
    known: float | None

    @property
    def regressed(self) -> bool:
        return self.known is not None and self.value > TOLERANCE * self.known

    @property
    def verdict(self) -> str:
        if self.regressed:
            return "SLOWER"
        return "" if self.value <= self.of.target else "missed"


def measured(comparison: Comparison, known: Mapping[tuple[str, int], float]) -> Ratio:
    """Measure; what seems slower than before is measured again, as one bad moment of the machine is no regression."""
    before = known.get((comparison.work, comparison.tokens))
    found = Ratio(comparison, comparison.measure(), before)
    for _ in range(RETRIES):
        if not found.regressed:
            break
        found = Ratio(comparison, min(found.value, comparison.measure()), before)
    return found


def recorded(text: str) -> dict[tuple[str, int], float]:
    """The ratios in a text as :func:`page` writes it, by work and tokens."""
    rows = re.findall(r"^\| (.+?) \| (\d+) \| (\d+\.\d+) \|.*$", text, flags=re.MULTILINE)
    return {(work, int(tokens)): float(ratio) for work, tokens, ratio in rows}


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def ratio_table(ratios: Iterable[Ratio]) -> str:
    """The table :func:`recorded` reads."""
    header = ("ours / theirs", "tokens", "ratio", "times as fast", "target")
    return table(
        header,
        [
            (
                each.of.work,
                each.of.tokens,
                f"{each.value:.3f}",
                f"{1 / each.value:.1f}",
                f"{each.of.target:.2f}",
            )
            for each in ratios
        ],
    )


def machine() -> str:
    """Processor, cores, versions: what a reader needs to know of where the figures come from."""
    info = Path("/proc/cpuinfo")
    names = re.findall(r"^model name\s*: (.+)$", info.read_text(), flags=re.MULTILINE) if info.exists() else []
    processor = names[0] if names else platform.processor() or "unknown processor"
    return (
        f"{processor}, {os.cpu_count()} cores; Python {platform.python_version()}, PyTorch {torch.__version__}; "
        f"{datetime.now(UTC):%Y-%m-%d}"
    )


def sections(text: str) -> dict[str, str]:
    """The contents of a text as :func:`page` writes it, by heading."""
    _, *parts = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)
    return {heading: content.strip() for heading, content in zip(parts[::2], parts[1::2], strict=True)}


def page(known: Mapping[str, str], found: Iterable[tuple[str, str]]) -> str:
    """The whole file: what is known, with each section that was found anew in its place, under machine and date."""
    after = dict(known) | {heading: f"{machine()}.\n\n{content}" for heading, content in found}
    top = (
        "# Results\n\nWritten by `python -m benchmarks --write`; with the name of a suite, by `python -m benchmarks "
        "--pages --write`, its sections alone. `make bench` measures the ratios again and fails where one has grown "
        "by more than a fifth. Ratios travel from machine to machine, seconds do not.\n"
    )
    return "\n".join([top, *(f"## {heading}\n\n{content}\n" for heading, content in after.items())])
