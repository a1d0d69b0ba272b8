"""Count words in the texts that taught the embedded models, for the prepared sentences of lesson 10.

    python -m training.evaluation.what_was_read --corpora ../shared/corpora

It reads the training split, so no document that was held out. The sentences and the definitions are in
lab/evidence/what_was_read.py.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from lab.evidence.what_was_read import DEFINITIONS, FILE, Tally
from training.command_line import documented
from training.corpus import paragraphs_to_sentences, split

COMMAND = "python -m training.evaluation.what_was_read --corpora ../shared/corpora"


def count(corpora: Path) -> Tally:
    """Count the words of all prepared sentences in the training documents of a folder of corpora."""
    tally = Tally()
    for _, document in split(corpora)[0]:
        tally.read(paragraphs_to_sentences(document))
    return tally


def write(tally: Tally, file: Path = FILE) -> None:
    """Write the counts, with the command, the definitions and the size of the texts."""
    record = {
        "command": COMMAND,
        "split": "training",
        "texts": asdict(tally.texts),
        "definitions": {name: each.meaning for name, each in DEFINITIONS.items()},
        "counts": tally.counts(),
    }
    file.write_text(json.dumps(record, indent=1) + "\n", "utf-8")


def main() -> None:
    parser = documented(__doc__)
    parser.add_argument("--corpora", type=Path, required=True)
    write(count(parser.parse_args().corpora))


if __name__ == "__main__":
    main()
