"""The differences of this process from Streamlit, by which no visitor can stop the server or fill its memory.

``python -m lab`` calls :func:`guard` before the server answers. A server that was started with ``streamlit run`` calls
it when somebody first opens a page.
"""

from __future__ import annotations

import ctypes
import platform
from urllib.parse import parse_qsl, urlencode

from streamlit import net_util
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

# The most bytes that all controls of a page may send. The largest report has 100,000 characters (lab/ui/reports.py).
MOST_BYTES = 600_000
# The most characters of a text in a field. The field for sentences of one's own takes 60,000, all others read fewer.
LONGEST = 100_000
# The most bytes of a link. Two texts of 4,000 characters with twelve bytes each (an emoji, escaped) have 96,000.
LONGEST_LINK = 200_000
_LONGEST_VALUE = 10_000  # characters that are left of a value in a link that is too long
# Messages that no page of the lab sends: one empties the caches of all visitors, one asks where files go.
_NOT_SENT = ("clear_cache", "file_urls_request")
# The most brackets and commas in the report of a component: a list takes a hundred times more memory in Python than as
# JSON.
_MOST_PARTS = 20_000


def guard() -> None:
    """Let this process ask nobody outside, drop what no page sends, and give memory back; once is enough."""
    give_back()
    net_util.get_external_ip = _no_address
    if AppSession.handle_backmsg is not _handle_bounded:
        AppSession.handle_backmsg = _handle_bounded  # type: ignore[method-assign]
    MemoryUploadedFileManager.add_file = _drop  # type: ignore[method-assign]


def _no_address() -> None:
    """Return no address: Streamlit would ask a server outside, once for each connection from a foreign page.

    It asks in the event loop, so that everybody waits meanwhile. Without an address it refuses the connection, too.
    """


_handle = AppSession.handle_backmsg


def _handle_bounded(self: AppSession, msg: BackMsg) -> None:
    """Handle a message of a browser if it is not larger than any that the lab's pages send.

    Streamlit keeps the last value of each control for as long as the visit lasts, and its own limit
    (``server.maxWidgetStateSize``) is for a whole frame, whatever is in it.
    """
    if bounded(msg):
        _handle(self, msg)


def bounded(msg: BackMsg) -> bool:
    """Cut texts and a link that are too long; return whether the rest is as small as the lab's pages send it."""
    asked, kind = msg.rerun_script, msg.WhichOneof("type")
    if kind != "rerun_script":
        return kind not in _NOT_SENT and msg.ByteSize() <= MOST_BYTES
    _cut_link(asked)
    for state in asked.widget_states.widgets:
        if len(state.string_value) > LONGEST:
            state.string_value = state.string_value[:LONGEST]
        if sum(state.json_value.count(sign) for sign in ",[{") > _MOST_PARTS:
            return False
    return msg.ByteSize() - len(asked.query_string) - len(asked.context_info.url) <= MOST_BYTES


def _cut_link(asked: ClientState) -> None:
    """Cut a link that is too long, so that its page opens: its first values stay."""
    if len(asked.query_string) > LONGEST_LINK:
        kept, left = list[str](), LONGEST_LINK
        for name, value in parse_qsl(asked.query_string):
            kept.append(urlencode({name: value[:_LONGEST_VALUE]}))
            left -= len(kept[-1]) + 1
            if left < 0:
                break
        asked.query_string = "&".join(kept if left >= 0 else kept[:-1])
    if len(asked.context_info.url) > LONGEST_LINK:
        asked.context_info.url = asked.context_info.url.partition("?")[0][:_LONGEST_VALUE]


def _drop(self: MemoryUploadedFileManager, session_id: str, file: UploadedFileRec) -> None:
    """Keep no file, because no page accepts one.

    ``server.maxUploadSize = 0`` makes Streamlit refuse files with content, but any session may still send any number of
    empty files with names of up to a megabyte, and Streamlit keeps these files.
    """


# mallopt(3): a block of at least this size is mapped by itself, and unmapped when it is freed; and how many heaps there
# are. Without a limit, threads get up to eight heaps a core, and each keeps what it has once needed.
_M_MMAP_THRESHOLD, _LARGE = -3, 1_000_000
_M_ARENA_MAX, _HEAPS = -8, 2


def give_back() -> None:
    """Keep glibc from raising its threshold to 32 MB, after which freed tensors stay with the process, in pieces.

    With a text of 512 tokens, this cuts the server's peak memory to three quarters. Other systems: no effect. Call it
    before threads begin: heaps that are there stay.
    """
    if _glibc():
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE)
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _HEAPS)


def trim() -> None:
    """Give back the free memory between small blocks: after a text of 512 tokens, some 50 MB within 5 ms."""
    if _glibc():
        ctypes.CDLL(None).malloc_trim(0)


def _glibc() -> bool:
    return platform.libc_ver()[0] == "glibc"
