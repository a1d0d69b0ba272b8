"""Print the address of PyTorch's own index of CPU builds, if it can be reached; the Makefile asks.

On Linux pip finds PyTorch with CUDA first, several gigabytes the lab does not use.
"""

from __future__ import annotations

import argparse
import platform
import sys
import threading
import urllib.request

INDEX = "https://download.pytorch.org/whl/cpu"
SECONDS = 3.0


def reachable(address: str, seconds: float = SECONDS) -> bool:
    """Whether ``address`` answers in time. A name that is slow to resolve does not hold the caller up either."""
    answers: list[bool] = []

    def ask() -> None:
        try:
            with urllib.request.urlopen(urllib.request.Request(address, method="HEAD"), timeout=seconds):
                answers.append(True)
        except OSError:  # refused, unknown, too late, or an answer that says no
            return

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(seconds)
    return bool(answers)


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    if platform.system() == "Linux" and reachable(f"{INDEX}/torch/"):
        sys.stdout.write(INDEX)


if __name__ == "__main__":
    main()
