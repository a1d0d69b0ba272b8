"""The operator's view of the rooms: ``python -m lab.rooms list``, ``delete CODE …`` and ``delete --unused MINUTES``.

The command reads the database that ``LAB_ROOMS`` names, as the servers do. The exit status is 1 if the database does
not answer, or has no such room.
"""

from __future__ import annotations

import argparse
import math
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
    deleting = commands.add_parser("delete", help="delete rooms and all their answers")
    deleting.add_argument("codes", nargs="*", metavar="CODE", help="the codes of rooms, as K7W2QD")
    deleting.add_argument(
        "--unused",
        type=_minutes,
        metavar="MINUTES",
        help="all rooms without a sign of their teachers for so long; 0: all",
    )
    asked = parser.parse_args(arguments)
    if asked.command == "delete" and bool(asked.codes) == (asked.unused is not None):
        deleting.error("name the codes of rooms, or say --unused MINUTES.")
    try:
        rooms = Rooms(open_database(default_url()))
        if asked.command == "list":
            return _list(rooms)
        return _delete(rooms, asked.codes) if asked.codes else _delete_unused(rooms, asked.unused)
    except Unreachable as away:
        print(away, file=sys.stderr)
        return 1


def _minutes(typed: str) -> float:
    try:
        found = float(typed)
    except ValueError:
        found = math.nan
    if not 0 <= found < math.inf:
        raise argparse.ArgumentTypeError(f"{typed!r} is not a number of minutes; it must be a number from 0.")
    return found


def _list(rooms: Rooms) -> int:
    print(f"{'code':<8} {'people':>6} {'questions':>9}  {'phase':<16} {'opened':<16}  {'ends':<16}".rstrip())
    for state, opened, ends in rooms.listed():
        times = "  ".join(f"{datetime.fromtimestamp(each, UTC):%Y-%m-%d %H:%M}" for each in (opened, ends))
        print(f"{state.code:<8} {state.people:>6} {state.number:>9}  {state.phase.value:<16} {times}")
    return 0


def _delete(rooms: Rooms, typed: Sequence[str]) -> int:
    there = rooms.states().keys()
    codes = {each: read_code(each) for each in typed}
    for each, code in codes.items():
        if code not in there:
            print(f"There is no room {each}.", file=sys.stderr)
    print(f"Rooms that are deleted, with all their answers: {rooms.end([code for code in codes.values() if code])}.")
    return int(any(code not in there for code in codes.values()))


def _delete_unused(rooms: Rooms, minutes: float) -> int:
    print(f"Rooms that are deleted, with all their answers: {rooms.end_unused(60 * minutes)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
