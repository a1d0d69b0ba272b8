"""A known vulnerability fails `make audit`; the lack of a network does not."""

from __future__ import annotations

import json

from tests.audit import verdict

# As pip-audit 2.10.1 writes it.
SAFE = {"name": "numpy", "version": "2.4.6", "vulns": []}
UNKNOWN = {"name": "torch", "skip_reason": "Dependency not found on PyPI and could not be audited: torch (2.13.0)"}
FOUND = {
    "name": "jinja2", "version": "2.4.1",
    "vulns": [{"id": "PYSEC-2019-217", "fix_versions": ["2.10.1"], "aliases": ["CVE-2019-10906"], "description": "…"}],
}  # fmt: skip


def report(*packages: object) -> str:
    return json.dumps({"dependencies": packages, "fixes": []})


def test_a_known_vulnerability_fails() -> None:
    lines, status = verdict(report(SAFE, FOUND, UNKNOWN))
    assert status == 1
    assert lines[0] == "jinja2 2.4.1: PYSEC-2019-217, mended in 2.10.1"
    assert lines[-1] == "2 packages audited, 1 not found there; 1 known vulnerabilities."


def test_no_network_is_told_and_fails_nothing() -> None:
    assert verdict("") == (["Nothing was audited: there was no answer."], 0)
    lines, status = verdict(report(UNKNOWN))
    assert (lines, status) == (["0 packages audited, 1 not found there; 0 known vulnerabilities."], 0)
