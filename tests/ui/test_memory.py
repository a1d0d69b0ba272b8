"""What is freed leaves the process."""

from __future__ import annotations

import subprocess
import sys

# Blocks of 8 MB freed in between small ones that stay, twice: after the first time glibc would keep the like.
PROGRAM = """
import ctypes, sys
from lab.ui import guard
if sys.argv[1] == "steady":
    guard.give_back()
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 / 1e6
def fill():
    large = []
    for _ in range(20):
        large.append(libc.malloc(8_000_000))
        ctypes.memset(large[-1], 1, 8_000_000)
        libc.malloc(1000)
    for each in large:
        libc.free(each)
before = resident()
fill()
fill()
print(resident() - before)
"""


def kept(how: str) -> float:
    run = subprocess.run([sys.executable, "-c", PROGRAM, how], capture_output=True, text=True, check=True)
    return float(run.stdout)


def test_large_blocks_leave_the_process() -> None:
    assert kept("steady") < 20
    assert kept("as it is") > 100
