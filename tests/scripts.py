"""Run the lines of Python behind the figures' buttons.

It needs nothing but Python and whatever ``lab`` is installed, so a test of a wheel can run it in an environment of its
own, without a checkout:

    python scripts.py scripts.json      # {"name": "lines of Python", …}
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
from collections.abc import Mapping
from pathlib import Path


def run_all(scripts: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Run each of the ``scripts`` in ``folder``; returns what each prints.

    What a script raises goes on. Raises RuntimeError for a script that prints nothing.
    """
    printed: dict[str, str] = {}
    before = Path.cwd()
    os.chdir(folder)
    try:
        for name, lines in scripts.items():
            out = io.StringIO()
            with contextlib.redirect_stdout(out):  # a traceback names the script, as its file
                exec(compile(lines, name, "exec"), {"__name__": "__main__"})
            printed[name] = out.getvalue()
            if not printed[name].strip():
                raise RuntimeError(f"{name} prints nothing:\n{lines}")
    finally:
        os.chdir(before)
    return printed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Run the lines of Python behind figures in this folder.")
    parser.add_argument("path", help='a JSON file, {"name": "lines of Python", …}')
    found = run_all(json.loads(Path(parser.parse_args().path).read_text("utf-8")), Path.cwd())
    print(f"{len(found)} scripts ran")
