"""Check whether a server can do its work: ``python -m lab.ready [address]``, which the image's health check calls.

Checks the models that ship, the folders in LAB_MODELS, the texts, the address for feedback, the database of rooms and,
if an address is given, the server there. Prints a sentence for each fault. Exits with 1 if the lab cannot work with the
faults. PyTorch is not loaded, because the check runs every few seconds; the checksums of the weights, 68 MB, take a
tenth of a second. Nothing is changed.
"""

from __future__ import annotations

import argparse
import os
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http.client import HTTPException

from lab.course.feedback import WrongAddress, feedback_address
from lab.models.catalogue import CATALOGUE, DEFAULT_MODEL, EMBEDDED, VARIABLE, is_sound, listed, ships
from lab.rooms.database import Unreachable, default_url, look
from lab.text.bundled import TextsMissing, bundled_sentences

_SECONDS = 3.0  # time in which a server must answer


@dataclass(frozen=True)
class Fault:
    """A fault, in a sentence, and whether the lab can work all the same."""

    sentence: str
    bearable: bool = False


def faults(address: str = "") -> Iterator[Fault]:
    """Find every fault, also of the server at ``address`` if one is given."""
    damaged = [each.id for each in CATALOGUE if ships(each) and not is_sound(EMBEDDED, each.id)]
    whole = [each.id for each in CATALOGUE if ships(each) and each.id not in damaged]
    if not whole:
        yield Fault("No model that ships with the lab can be read.")
    elif damaged or DEFAULT_MODEL not in whole:
        broken = ", ".join(damaged or [DEFAULT_MODEL])
        yield Fault(f"Damaged or missing: {broken}. Visitors see {whole[0]} instead.", bearable=True)
    try:
        bundled_sentences()
    except TextsMissing as missing:
        yield Fault(str(missing), bearable=True)
    for folder in listed():
        if not os.access(folder / "config.json", os.R_OK):
            yield Fault(f"{VARIABLE} names {folder}, which has no config.json that can be read.", bearable=True)
    try:
        feedback_address()
    except WrongAddress as wrong:
        yield Fault(str(wrong), bearable=True)
    try:
        look(default_url())
    except Unreachable as away:
        yield Fault(f"Rooms: {away}")
    if address:
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=_SECONDS).read()
        except (OSError, HTTPException, ValueError) as silent:  # ValueError: not an address
            yield Fault(f"The server at {address} does not answer ({silent}).")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the faults; returns 0 if the lab works."""
    parser = argparse.ArgumentParser(prog="python -m lab.ready", description=__doc__.partition("\n")[0])
    parser.add_argument("address", nargs="?", default="", help="of a running server, as http://127.0.0.1:8501")
    found = list(faults(parser.parse_args(arguments).address))
    for fault in found:
        print(fault.sentence)
    return int(not all(fault.bearable for fault in found))


if __name__ == "__main__":
    sys.exit(main())
