"""Start the lab: the command ``inside-bert``, which is also ``python -m lab``."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import lab
from lab.course.feedback import WrongAddress, feedback_address
from lab.course.pages import home
from lab.models.catalogue import VARIABLE, listed

_HERE = ("localhost", "127.0.0.1", "::1")  # addresses at which nobody else on the network reaches the lab
_OPTION = re.compile(r"--[a-z]+\.[A-Za-z.]+(=|$)")  # one of Streamlit's: a section and a name


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve the lab until somebody stops it; return 2 without serving if a folder has no model."""
    parser = _parser()
    asked, options = parser.parse_known_args(arguments)
    if strange := [each for each in options if each.startswith("-") and not _OPTION.match(each)]:
        parser.error(f"there is no option {strange[0]}.")
    if any(each.startswith("--server.address") for each in options):
        parser.error("say where the lab listens with --address.")
    try:
        found = [path for folder in asked.models for path in checkpoints(folder)]
    except NoCheckpoint as wrong:
        print(f"inside-bert: {wrong}", file=sys.stderr)
        return 2
    try:
        feedback_address()
    except WrongAddress as wrong:
        print(f"inside-bert: {wrong}", file=sys.stderr)
    # Whoever reaches the lab from this machine alone runs it for themselves, and may download models.
    if asked.address in _HERE:
        os.environ.setdefault("LAB_ALLOW_DOWNLOADS", "1")
    os.environ[VARIABLE] = os.pathsep.join(map(str, (*listed(), *found)))
    _serve([*_options(asked), *options])
    return 0


def _options(asked: argparse.Namespace) -> list[str]:
    """Return the options of ``streamlit run`` that say the same as the lab's own."""
    options = [f"--server.address={asked.address}"]
    options += [] if asked.port is None else [f"--server.port={asked.port}"]
    return options + (["--server.headless=true"] if asked.no_browser else [])


class NoCheckpoint(ValueError):
    """Raised for a folder without a checkpoint that can be offered; the message says why."""


def checkpoints(folder: Path) -> list[Path]:
    """Return ``folder`` if it is a checkpoint, otherwise the checkpoints in it. Raises NoCheckpoint."""
    try:
        within = sorted(folder.iterdir()) if folder.is_dir() else []
        asked = [folder] if (folder / "config.json").is_file() else within
        found = [each.absolute() for each in asked if (each / "config.json").is_file()]
    except (OSError, ValueError) as error:  # ValueError: a path that no file can have
        raise NoCheckpoint(f"{folder} cannot be opened: {getattr(error, 'strerror', None) or error}.") from error
    if not found:
        raise NoCheckpoint(f"no checkpoint in {folder}, nor in a folder there: no config.json.")
    for each in found:
        if os.pathsep in str(each):
            raise NoCheckpoint(f"{each} has {os.pathsep!r} in its path, which separates folders; rename it.")
    return found


def _serve(options: Sequence[str]) -> None:
    """Run ``streamlit run`` in this process. It finds the lab's settings beside the file that it starts."""
    from streamlit.web.cli import main as streamlit

    from lab.ui.guard import guard

    guard()
    streamlit(["run", str(home()), *options], prog_name="streamlit")


def _port(typed: str) -> int:
    if not (typed.isascii() and typed.isdigit() and 0 < int(typed) < 2**16):
        raise argparse.ArgumentTypeError(f"{typed!r} is not a port; ports are whole numbers from 1 to {2**16 - 1}.")
    return int(typed)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="inside-bert",
        description="Start Inside BERT, a laboratory for the transformer.",
        epilog="Options of Streamlit may follow, as --server.headless true (streamlit run --help).",
    )
    parser.add_argument("--port", type=_port, help="of the address http://localhost:PORT; 8501 or the next free one")
    parser.add_argument(
        "--address",
        default=_HERE[0],
        help="to listen on: only this machine reaches the lab without it, everybody on the network with 0.0.0.0",
    )
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
