"""A lab server of one's own: started on a free port, stopped at the end, its memory and processor time read.

    with running_lab() as lab:
        urllib.request.urlopen(lab.url)
        print(usage(lab.process.pid).megabytes)

Load tests and browser tests visit such a server.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HOME = Path(__file__).parents[1] / "Home.py"
START_SECONDS = 60


@dataclass(frozen=True)
class Lab:
    """A running server: where it is, and where its output goes."""

    url: str
    log_path: Path
    process: subprocess.Popen[bytes]

    @property
    def log(self) -> str:
        return self.log_path.read_text("utf-8", "replace")


@contextmanager
def running_lab(
    script: Path = HOME,
    folder: Path | None = None,
    port: int | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Lab]:
    """Start the lab, or with another ``script`` what ``streamlit run`` makes of it; stop it at the end.

    ``folder`` takes the server's log; without it the log is gone with the server. ``port`` is a free
    one unless given. ``environment`` is added to this process's own.
    """
    with tempfile.TemporaryDirectory() as spare:
        log_path = (folder or Path(spare)) / "server.log"
        port = port or free_port()
        start = ["lab"] if script == HOME else ["streamlit", "run", str(script)]
        address = "--address=127.0.0.1" if script == HOME else "--server.address=127.0.0.1"
        options = {"server.port": port, "server.headless": "true", "server.fileWatcherType": "none"}
        command = [sys.executable, "-m", *start, address]
        command += [f"--{name}={value}" for name, value in options.items()]
        with log_path.open("wb") as log:
            process = subprocess.Popen(
                command,
                cwd=script.parent,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, "STREAMLIT_BROWSER_GATHER_USAGE_STATS": "false", **(environment or {})},
            )
        lab = Lab(f"http://127.0.0.1:{port}", log_path, process)
        try:
            wait_until_healthy(lab)
            yield lab
        finally:
            stop(process)


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def wait_until_healthy(lab: Lab) -> None:
    """Return when the server answers. Raises RuntimeError if it ends before, or takes too long."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if lab.process.poll() is not None:
            raise RuntimeError(f"the lab ended with {lab.process.returncode} before it served:\n{lab.log}")
        try:
            with urllib.request.urlopen(lab.url + "/_stcore/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            time.sleep(0.1)
    raise RuntimeError(f"the lab did not serve within {START_SECONDS} s:\n{lab.log}")


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a server, politely first."""
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@dataclass(frozen=True)
class Usage:
    """What a process and all it started have taken: processor seconds so far, resident megabytes (10⁶ bytes) now."""

    cpu_seconds: float
    megabytes: float


def usage(pid: int) -> Usage:
    """Read the :class:`Usage` of a process and its descendants from ``/proc`` (Linux)."""
    ticks, pages = 0, 0
    for each in family(pid):
        # The name of a process stands in parentheses and may hold spaces; the fields after it do not.
        fields = Path(f"/proc/{each}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
        pages += int(fields[21])
    return Usage(ticks / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGE_SIZE") / 1e6)


def high_water(pid: int) -> float:
    """The most that one process has ever had resident, as Linux counts it, in megabytes."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8", "replace")
    return next(int(line.split()[1]) * 1024 / 1e6 for line in status.splitlines() if line.startswith("VmHWM"))


def family(pid: int) -> list[int]:
    """A process and all that it has started, directly or not, as far as they still run."""
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    children = [int(child) for each in lists for child in each.read_text().split()]
    return [pid, *(one for child in children for one in family(child))]
