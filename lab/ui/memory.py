"""The memory of the process: large tensors go back to the system as soon as they are unused; uploads and large messages
are dropped."""

from __future__ import annotations

import ctypes
import platform

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

# mallopt(3): a block of at least this size is mapped by itself, and unmapped when it is freed.
_M_MMAP_THRESHOLD = -3
_LARGE = 1_000_000
# The most bytes of a message: a link of a megabyte, which a text of as many characters may stand beside.
MOST_BYTES = 4_000_000


def give_back() -> None:
    """Keep glibc from raising its threshold to 32 MB, after which freed tensors stay with the process, in pieces.

    With a text of 512 tokens, this cuts the server's peak memory to three quarters. Other systems: no effect.
    """
    if _glibc():
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE)


def trim() -> None:
    """Give back the free memory between small blocks: after a text of 512 tokens, some 50 MB within 5 ms."""
    if _glibc():
        ctypes.CDLL(None).malloc_trim(0)


def _glibc() -> bool:
    return platform.libc_ver()[0] == "glibc"


def drop_large_messages() -> None:
    """Let this process drop every message of a browser that is larger than any that the lab's pages send.

    Streamlit keeps the last value of each control for as long as the visit lasts, and its own limit
    (``server.maxMessageSize``) is also that of the figures that the server sends, which are ten times as large.
    """
    handle = AppSession.handle_backmsg
    if getattr(handle, "drops_large_messages", False):
        return

    def handle_small(self: AppSession, msg: BackMsg) -> None:
        """Handle a message of an ordinary size."""
        if msg.ByteSize() <= MOST_BYTES:
            handle(self, msg)

    handle_small.drops_large_messages = True  # type: ignore[attr-defined]
    AppSession.handle_backmsg = handle_small  # type: ignore[method-assign]


def keep_no_uploads() -> None:
    """Let this process drop every file that is sent to it, because no page accepts files.

    ``server.maxUploadSize = 0`` makes Streamlit refuse files with content, but any session may still send any number of
    empty files with names of up to a megabyte, and Streamlit keeps these files.
    """

    def drop(self: MemoryUploadedFileManager, session_id: str, file: UploadedFileRec) -> None:
        """Keep nothing."""

    MemoryUploadedFileManager.add_file = drop  # type: ignore[method-assign]
