"""requirements.lock has every package that the lab needs, by version and hash, and is what is installed here."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
LOCK = (ROOT / "requirements.lock").read_text("utf-8")
LOCKED = [Requirement(line.removesuffix(" \\")) for line in LOCK.splitlines() if re.match(r"[a-z]", line)]
PINNED = [
    Requirement(line)
    for line in (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]


def named(requirement: Requirement) -> tuple[str, str]:
    return requirement.name.lower().replace("_", "-"), str(requirement.specifier)


def test_every_pin_but_pytorch_is_locked_and_every_package_has_a_hash() -> None:
    assert {named(each) for each in PINNED} - {named(each) for each in LOCKED} == {("torch", "==2.13.0")}
    assert all(re.fullmatch(r"==[\w.]+", str(each.specifier)) for each in LOCKED)
    blocks = re.split(r"\n(?=[a-z])", LOCK)[1:]
    assert len(blocks) == len(LOCKED) > 90
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}(\s|$)", block) for block in blocks)


def test_no_index_and_nothing_for_cuda_is_in_it() -> None:
    assert "//" not in LOCK and not re.search(r"^\s*-", LOCK.replace("    --hash", ""), re.MULTILINE)
    assert not [each.name for each in LOCKED if each.name.startswith(("nvidia", "cuda", "triton"))]


@pytest.mark.parametrize("locked", LOCKED, ids=lambda each: str(each)[:60])
def test_what_is_locked_is_installed(locked: Requirement) -> None:
    if locked.marker is None or locked.marker.evaluate():
        assert locked.specifier.contains(version(locked.name))


def test_everything_that_an_installed_package_needs_is_locked() -> None:
    """A package that the lab needs, and that is not in the file, would come in whatever version."""
    from importlib.metadata import requires

    here = {named(each)[0] for each in LOCKED if each.marker is None or each.marker.evaluate()} | {"torch"}
    for name in here:
        for line in requires(name) or ():
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                assert named(needed)[0] in here, f"{name} needs {needed.name}"


def test_make_and_the_image_install_by_it() -> None:
    for name in ("Makefile", "Dockerfile"):
        assert "--require-hashes -r requirements.lock" in (ROOT / name).read_text("utf-8"), name
