"""The lab as others get it: a wheel, installed into an environment of its own, with the packages of this one.

So nothing is downloaded. The environment's Python also tells which files of the checkout it opens: it should open none.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Runs when the environment's Python starts. The environment of the tests may lie in the checkout: it is not meant.
_WATCH = f"""
import os, sys

def note(event, arguments):
    if event == "open" and isinstance(arguments[0], str):
        path = os.path.abspath(arguments[0])
        if path.startswith({str(ROOT)!r} + os.sep) and not path.startswith({str(ROOT / ".venv")!r}):
            os.write(told, (path + os.linesep).encode())

told = os.open({{told!r}}, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
sys.addaudithook(note)
"""


@dataclass(frozen=True)
class Installed:
    """An environment with the lab in it. ``told`` has a line for each file of the checkout that was opened there."""

    wheel: Path
    environment: Path
    told: Path

    @property
    def scripts(self) -> Path:
        return self.environment / ("Scripts" if os.name == "nt" else "bin")

    @property
    def packages(self) -> Path:
        return Path(sysconfig.get_path("purelib", vars={"base": str(self.environment)}))

    def run(self, *command: str, folder: Path) -> str:
        """Run a command of the environment in ``folder``; return what it prints."""
        program = str(self.scripts / command[0])
        done = subprocess.run(
            [program, *command[1:]], cwd=folder, env=outside(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout


def outside() -> dict[str, str]:
    """This process's variables, without those that would lead back to the checkout."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}


def install(folder: Path) -> Installed:
    """Build the wheel, and install it under ``folder``."""
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT, check=True)
    (wheel,) = folder.glob("*.whl")
    made = Installed(wheel, folder / "environment", folder / "opened.txt")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", made.environment], check=True)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(made.scripts / "python"),
        "--quiet",
        "--disable-pip-version-check",
    ]
    subprocess.run([*pip, "install", "--no-deps", "--no-index", str(wheel)], check=True)
    (made.packages / "shared.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (made.packages / "watch.pth").write_text("import watch\n")
    (made.packages / "watch.py").write_text(_WATCH.format(told=str(made.told)))
    made.told.touch()
    return made
