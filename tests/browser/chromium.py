"""Which Chromium the browser tests drive: the system's own; nothing is downloaded.

    python -m tests.browser.chromium        # print its path, or exit with 1 and say what to do

Set ``CHROMIUM`` to the path of another Chromium or Chrome.
"""

from __future__ import annotations

import os
import shutil
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = (
    "The browser tests need Chromium, and none was found. Install it (Debian, Ubuntu: "
    "sudo apt-get install chromium) or set CHROMIUM to the path of a Chromium or Chrome."
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


def chromium_path() -> str | None:
    """The path of the browser, or None where there is none."""
    for name in filter(None, (os.environ.get("CHROMIUM"), *NAMES)):
        found = shutil.which(name)
        if found:
            return found
    return None


if __name__ == "__main__":
    path = chromium_path()
    print(path or MISSING, file=sys.stdout if path else sys.stderr)
    sys.exit(0 if path else 1)
