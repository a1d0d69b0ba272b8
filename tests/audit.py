"""Ask for known vulnerabilities of everything that is installed: `make audit`.

    pip-audit --path SITE-PACKAGES --format json | python -m tests.audit

Ends with status 1 if one is known. Without a network nothing can be known: then it says what was not looked up and
ends with 0, as the lack of a network is no fault of the lab.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def verdict(report: str) -> tuple[list[str], int]:
    """Lines to print and the exit status, from pip-audit's report; an empty one means that it got no answer."""
    try:
        packages: list[dict[str, Any]] = json.loads(report)["dependencies"]
    except ValueError:
        return ["Nothing was audited: there was no answer."], 0
    lines, known = [], 0
    for package in packages:
        for found in package.get("vulns", ()):
            known += 1
            fixed = ", ".join(found["fix_versions"]) or "no version yet"
            lines.append(f"{package['name']} {package['version']}: {found['id']}, mended in {fixed}")
    asked = sum("vulns" in package for package in packages)
    lines.append(f"{asked} packages audited, {len(packages) - asked} not found there; {known} known vulnerabilities.")
    return lines, int(known > 0)


def main() -> int:
    """Judge the report on standard input."""
    lines, status = verdict(sys.stdin.read())
    print("\n".join(lines))
    return status


if __name__ == "__main__":
    sys.exit(main())
