"""Start the lab: the command ``inside-bert``, which is also ``python -m lab``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import lab
from lab.course.feedback import WrongAddress, feedback_address
from lab.course.pages import home


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve the lab until somebody stops it; return 2 without serving if a folder has no model."""
    asked = _parser().parse_args(arguments)
    found = {folder: checkpoints(folder) for folder in asked.models}
    if empty := [folder for folder in found if not found[folder]]:
        print(f"inside-bert: no checkpoint in {empty[0]}, nor in a folder there: no config.json.", file=sys.stderr)
        return 2
    try:
        feedback_address()
    except WrongAddress as wrong:
        print(f"inside-bert: {wrong}", file=sys.stderr)
    # Whoever types the command runs the lab for themselves, and may download models; a public server may not.
    os.environ.setdefault("LAB_ALLOW_DOWNLOADS", "1")
    offered = [path for path in os.environ.get("LAB_MODELS", "").split(os.pathsep) if path]
    os.environ["LAB_MODELS"] = os.pathsep.join([*offered, *(str(path) for paths in found.values() for path in paths)])
    _serve(asked.port, browser=not asked.no_browser)
    return 0


def checkpoints(folder: Path) -> list[Path]:
    """Return ``folder`` if it is a checkpoint, otherwise the checkpoints in it."""
    within = sorted(folder.iterdir()) if folder.is_dir() else []
    asked = [folder] if (folder / "config.json").is_file() else within
    return [each.absolute() for each in asked if (each / "config.json").is_file()]


def _serve(port: int | None, browser: bool) -> None:
    """Run ``streamlit run`` in this process. It finds the lab's settings beside the file that it starts."""
    from streamlit.web.cli import main as streamlit

    options = [] if port is None else [f"--server.port={port}"]
    options += [] if browser else ["--server.headless=true"]
    streamlit(["run", str(home()), *options], prog_name="streamlit")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="inside-bert", description="Start Inside BERT, a laboratory for the transformer."
    )
    parser.add_argument("--port", type=int, help="of the address http://localhost:PORT; 8501 or the next free one")
    parser.add_argument("--no-browser", action="store_true", help="open no browser")
    parser.add_argument(
        "--models",
        metavar="FOLDER",
        type=Path,
        action="append",
        default=[],
        help="a checkpoint to offer, or a folder of checkpoints; may be given more than once",
    )
    parser.add_argument("--version", action="version", version=f"Inside BERT {lab.__version__}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
