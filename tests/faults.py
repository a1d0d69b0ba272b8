"""Put named faults into the lab, one at a time, and see whether the tests find each (`make faults`).

Each fault of ``faults.toml`` exchanges a few words in one file of a copy of the working tree. The nearest tests run on
this copy: if all of them pass, the fault has survived. Who deletes tests runs this before and after.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Fault:
    """In ``file``, each first text of ``edits`` becomes the second; one of ``tests`` (paths) should then fail."""

    name: str
    file: str
    edits: Sequence[Sequence[str]]
    tests: Sequence[str]

    def put_into(self, tree: Path) -> str:
        """Write the fault into a copy of the lab, and return the file's text without it.

        Raises ValueError if the file has changed, so that the fault must be written anew.
        """
        path = tree / self.file
        whole = text = path.read_text("utf-8")
        for old, new in self.edits:
            if text.count(old) != 1:
                raise ValueError(f"{self.name}: {self.file} has {text.count(old)} places like {old!r}, and not one.")
            text = text.replace(old, new)
        path.write_text(text, "utf-8")
        return whole


def faults() -> tuple[Fault, ...]:
    """Read the list."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    return tuple(Fault(**fault) for fault in table["fault"])


def copied(into: Path) -> Path:
    """Copy the files that git knows, as they are now, and link the environment."""
    known = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, known.split("\0")):
        if (ROOT / name).is_file():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, into / name)
    (into / ".venv").symlink_to((ROOT / ".venv").resolve())
    return into


def survives(fault: Fault, tree: Path) -> bool:
    """Return whether the nearest tests pass with the fault."""
    whole = fault.put_into(tree)
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *fault.tests]
    try:
        ran = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    finally:
        (tree / fault.file).write_text(whole, "utf-8")
    if ran.returncode not in (0, 1):  # 1: a test failed; all else: no test ran
        raise RuntimeError(
            f"{fault.name}: pytest stopped with {ran.returncode}.\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}"
        )
    return ran.returncode == 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the named faults, or all; the exit status is 1 if one survived."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.faults", description="Put faults in; see whether tests fail."
    )
    parser.add_argument("names", nargs="*", help="the faults to try; all if none is named")
    asked = parser.parse_args(arguments).names
    chosen = [fault for fault in faults() if not asked or fault.name in asked]
    survivors = []
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(Path(folder))
        for fault in chosen:
            began = time.monotonic()
            survived = survives(fault, tree)
            survivors += [fault.name] * survived
            print(
                f"{'SURVIVES' if survived else 'found':8} {time.monotonic() - began:4.0f} s  {fault.name}", flush=True
            )
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} faults were found. " + ", ".join(survivors))
    return 1 if survivors else 0


if __name__ == "__main__":
    raise SystemExit(main())
