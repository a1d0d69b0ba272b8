"""What the process holds: large tensors go back to the system as soon as nobody needs them, uploads never stay."""

from __future__ import annotations

import ctypes
import platform

from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

# mallopt(3): from this size on a block is mapped by itself, and unmapped when it is freed.
_M_MMAP_THRESHOLD = -3
_LARGE = 1_000_000


def give_back() -> None:
    """Keep glibc from moving its threshold up to 32 MB, after which freed tensors stay with the process, in pieces.

    Over a text of 512 tokens the server then peaks at three quarters of the memory. Other systems: nothing.
    """
    if _glibc():
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE)


def trim() -> None:
    """Give back what lies free between small blocks, too: some 50 MB after a text of 512 tokens, in 5 ms."""
    if _glibc():
        ctypes.CDLL(None).malloc_trim(0)


def _glibc() -> bool:
    return platform.libc_ver()[0] == "glibc"


def keep_no_uploads() -> None:
    """Let this process drop every file that is sent to it: no page takes one.

    Streamlit refuses files with content by ``server.maxUploadSize = 0``, but keeps any number of empty ones with names
    of up to a megabyte, of whoever has a session.
    """

    def drop(self: MemoryUploadedFileManager, session_id: str, file: UploadedFileRec) -> None:
        """Keep nothing."""

    MemoryUploadedFileManager.add_file = drop  # type: ignore[method-assign]
