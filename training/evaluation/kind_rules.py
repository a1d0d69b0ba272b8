"""Write the best rule by kinds of words for each job of grammar.

    python -m training.evaluation.kind_rules

The rules are chosen on half A of UD English EWT dev, and measured on half B.
"""

from __future__ import annotations

import argparse
import json

from lab.evidence.kind_rules import FILE, as_record, measured


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    found = {"command": "python -m training.evaluation.kind_rules", "rules": as_record(measured())}
    FILE.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
