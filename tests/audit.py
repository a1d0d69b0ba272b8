"""Ask for known vulnerabilities of everything that is installed: `make audit`.

    pip-audit --path SITE-PACKAGES --format json | python -m tests.audit

Ends with status 1 if one is known, and where nothing could be looked up: an audit that did not happen is not passed.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any


def verdict(report: str) -> tuple[list[str], int]:
    """Lines to print and the exit status, from pip-audit's report; an empty one means that it got no answer."""
    try:
        packages: list[dict[str, Any]] = json.loads(report)["dependencies"]
    except ValueError:
        return ["Nothing was audited: the database of vulnerabilities did not answer. Is there a network?"], 1
    lines, known = [], 0
    for package in packages:
        for found in package.get("vulns", ()):
            known += 1
            fixed = ", ".join(found["fix_versions"]) or "no version yet"
            lines.append(f"{package['name']} {package['version']}: {found['id']}, mended in {fixed}")
    asked = sum("vulns" in package for package in packages)
    lines.append(f"{asked} packages audited, {len(packages) - asked} not found there; {known} known vulnerabilities.")
    return lines, int(known > 0 or asked == 0)


def main() -> int:
    """Judge the report on standard input."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    lines, status = verdict(sys.stdin.read())
    print("\n".join(lines))
    return status


if __name__ == "__main__":
    sys.exit(main())
