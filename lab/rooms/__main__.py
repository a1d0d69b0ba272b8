"""The operator's view of the rooms: ``python -m lab.rooms list`` and ``python -m lab.rooms delete CODE``.

The command reads the database that ``LAB_ROOMS`` names, as the servers do. The exit status is 1 if the database does
not answer, or has no such room.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

from lab.rooms.codes import read_code
from lab.rooms.database import Unreachable, default_url, open_database
from lab.rooms.rooms import Rooms


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m lab.rooms", description="The rooms of this lab.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="every room: its code, its people, and when it was opened and ends (UTC)")
    deleting = commands.add_parser("delete", help="delete a room and all its answers")
    deleting.add_argument("code", help="its code, as K7W2QD")
    asked = parser.parse_args(arguments)
    try:
        rooms = Rooms(open_database(default_url()))
        return _list(rooms) if asked.command == "list" else _delete(rooms, asked.code)
    except Unreachable as away:
        print(away, file=sys.stderr)
        return 1


def _list(rooms: Rooms) -> int:
    print(f"{'code':<8} {'people':>6} {'questions':>9}  {'phase':<16} {'opened':<16}  {'ends':<16}".rstrip())
    for state, opened, ends in rooms.listed():
        times = "  ".join(f"{datetime.fromtimestamp(each, UTC):%Y-%m-%d %H:%M}" for each in (opened, ends))
        print(f"{state.code:<8} {state.people:>6} {state.number:>9}  {state.phase.value:<16} {times}")
    return 0


def _delete(rooms: Rooms, typed: str) -> int:
    code = read_code(typed)
    if code is None or not rooms.end(code):
        print(f"There is no room {typed}.", file=sys.stderr)
        return 1
    print("The room and all its answers are deleted.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
