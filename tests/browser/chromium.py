"""Which Chromium the browser tests drive: the system's own, or else the build that Playwright keeps.

    python -m tests.browser.chromium        # print its path, or exit with 1 and say what to do

Set ``CHROMIUM`` to the path of another Chromium or Chrome. The Makefile asks Playwright for its own build
(``python -m playwright install chromium``) where there is neither a browser nor the right to install one.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

# Names on the PATH, and where Chrome, Chromium and Edge live on macOS and Windows.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
_APPLICATIONS = (
    "Google Chrome.app/Contents/MacOS/Google Chrome",
    "Chromium.app/Contents/MacOS/Chromium",
    "Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)
_PROGRAMS = ("Google/Chrome/Application/chrome.exe", "Microsoft/Edge/Application/msedge.exe")
_PROGRAM_FOLDERS = ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")
MISSING = (
    "The browser tests need Chromium, and none was found. Install Chrome or Chromium (Debian, Ubuntu: "
    "sudo apt-get install chromium), or set CHROMIUM to the path of one."
)
# The lab works offline, and so must its tests: without these, Chromium calls home at every start.
LAUNCH_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def _installed() -> list[Path]:
    """Where a browser may be that is not on the PATH."""
    folders = [Path("/Applications"), Path.home() / "Applications"]
    programs = [Path(os.environ[name]) for name in _PROGRAM_FOLDERS if name in os.environ]
    return [folder / each for folder in folders for each in _APPLICATIONS] + [
        folder / each for folder in programs for each in _PROGRAMS
    ]


def _playwrights_own() -> Path:
    """Where Playwright keeps its own build, once it has been asked for one."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return Path(playwright.chromium.executable_path)


def chromium_path() -> str | None:
    """The path of the browser, or None where there is none."""
    for name in filter(None, (os.environ.get("CHROMIUM"), *NAMES)):
        found = shutil.which(name)
        if found:
            return found
    for path in _installed():
        if path.is_file():
            return str(path)
    own = _playwrights_own()
    return str(own) if own.is_file() else None


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    path = chromium_path()
    print(path or MISSING, file=sys.stdout if path else sys.stderr)
    sys.exit(0 if path else 1)
