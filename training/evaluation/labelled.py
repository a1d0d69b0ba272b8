"""Write the sentences of the treebanks with which docs/tasks.md asks what a vector of a whole sentence knows.

python -m training.evaluation.labelled
"""

from __future__ import annotations

import argparse
import json

from lab.evidence.labelled import FILE, LABELS, as_record, chosen


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    tasks = {task: as_record(chosen(task)) for task in LABELS}
    found = {"command": "python -m training.evaluation.labelled", "tasks": tasks}
    FILE.write_text(json.dumps(found, ensure_ascii=False, indent=0) + "\n", "utf-8")


if __name__ == "__main__":
    main()
