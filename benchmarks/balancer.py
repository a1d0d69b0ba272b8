"""The balancer of compose.yaml before servers of one's own, on a machine that has HAProxy.

with running_lab() as one, running_lab() as two, proxied([one, two]) as door:
...  # a visitor of door.url is on one of them

python -m benchmarks.balancer           # print where HAProxy is, or exit with 1 and say what to do: make haproxy
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.server import Lab, free_port, stop, wait_until_healthy

PROGRAM = "haproxy"
MISSING = "There is no HAProxy on this machine. Install it (Debian, Ubuntu: sudo apt-get install haproxy)."
CONFIG = Path(__file__).parents[1] / "deploy" / "haproxy.cfg"


def configured(config: str, port: int, servers: Sequence[str]) -> str:
    """What ``deploy/haproxy.cfg`` says, listening on ``port`` before ``servers`` ("host:port") instead of Docker's.

    Raises ValueError where the file has no longer what is replaced.
    """
    own = "\n".join(f"    server lab{number} {server}" for number, server in enumerate(servers, start=1))
    for pattern, instead in (
        (r"resolvers docker\n(?:    .*\n)+\n", ""),
        (r"bind :8501", f"bind 127.0.0.1:{port}"),
        (r" {4}server-template .*", own),
    ):
        config, count = re.subn(pattern, instead, config)
        if count != 1:
            raise ValueError(f"deploy/haproxy.cfg has {count} times what one of them should be: {pattern}")
    return config


@contextmanager
def proxied(
    labs: Sequence[Lab], environment: Mapping[str, str] | None = None, change: Callable[[str], str] = str
) -> Iterator[Lab]:
    """HAProxy's door before ``labs``, with ``environment`` added to this process's own.

    ``change`` is made to the text of its configuration. Raises RuntimeError where there is no HAProxy.
    """
    if shutil.which(PROGRAM) is None:
        raise RuntimeError(MISSING)
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        path, log_path = Path(folder) / "haproxy.cfg", Path(folder) / "haproxy.log"
        servers = [lab.url.removeprefix("http://") for lab in labs]
        path.write_text(change(configured(CONFIG.read_text("utf-8"), port, servers)), encoding="utf-8")
        with log_path.open("wb") as log:
            process = subprocess.Popen(
                [PROGRAM, "-db", "-f", str(path)],
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(environment or {})},
            )
        door = Lab(f"http://127.0.0.1:{port}", log_path, process)
        try:
            wait_until_healthy(door)
            yield door
        finally:
            stop(process)


def main() -> int:
    """Print the path of HAProxy and return 0, or what to do without one and return 1."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    path = shutil.which(PROGRAM)
    print(path or MISSING, file=sys.stdout if path else sys.stderr)
    return 0 if path else 1


if __name__ == "__main__":
    sys.exit(main())
