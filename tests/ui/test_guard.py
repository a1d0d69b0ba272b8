"""A message that no page sends is dropped; a text or a link that is too long is cut, so that its page can say so."""

from __future__ import annotations

import subprocess
import sys
from urllib.parse import parse_qs, urlencode

import pytest
from streamlit import net_util
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.Common_pb2 import FileURLsRequest
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.app_session import AppSession

from lab.ui import guard
from lab.ui.guard import LONGEST, LONGEST_LINK, MOST_BYTES, bounded


def message(*states: WidgetState, query: str = "") -> BackMsg:
    return BackMsg(rerun_script=ClientState(widget_states=WidgetStates(widgets=states), query_string=query))


def test_what_a_learner_sends_passes_as_it_is() -> None:
    sentences = '{"kept":["a","' + "文" * 90_000 + '"]}'
    sent = message(
        WidgetState(id="text", string_value="👩" * 60_000),
        WidgetState(id="sentences", json_value=sentences),
        query=urlencode({"text": "👩" * 4_000, "pair": "👩" * 4_000}),
    )
    before = sent.SerializeToString()
    assert bounded(sent) and sent.SerializeToString() == before


def test_a_long_text_is_cut() -> None:
    sent = message(WidgetState(id="text", string_value="x" * 3_000_000))
    assert bounded(sent) and sent.rerun_script.widget_states.widgets[0].string_value == "x" * LONGEST


@pytest.mark.parametrize(
    "state",
    [
        WidgetState(id="a", json_value='"' + "x" * MOST_BYTES + '"'),
        WidgetState(id="a", json_value="[" * 30_000 + "]" * 30_000),
        WidgetState(id="a", json_value="[" + "[]," * 30_000 + "[]]"),
        WidgetState(id="a", bytes_value=b"x" * MOST_BYTES),
        WidgetState(id="i" * MOST_BYTES),
    ],
    ids=["text", "deep", "wide", "bytes", "name"],
)
def test_a_report_that_no_page_sends_is_dropped(state: WidgetState) -> None:
    assert not bounded(message(state))


def test_many_texts_are_dropped() -> None:
    assert not bounded(message(*(WidgetState(id=str(n), string_value="x" * 90_000) for n in range(7))))


def test_a_link_that_is_too_long_is_cut_and_keeps_its_first_values() -> None:
    sent = message(query=urlencode({"layer": "2", "text": "y" * 900_000, "head": "3"}))
    sent.rerun_script.context_info.url = "http://lab/Tokenization?" + "z" * 900_000
    assert bounded(sent)
    kept = parse_qs(sent.rerun_script.query_string)
    assert kept["layer"] == ["2"] and kept["head"] == ["3"] and set(kept["text"][0]) == {"y"}
    assert sent.ByteSize() < LONGEST_LINK and sent.rerun_script.context_info.url == "http://lab/Tokenization"
    many = message(query=urlencode({str(n): "👩" * 3_000 for n in range(100)}))
    assert bounded(many) and 0 < len(many.rerun_script.query_string) <= LONGEST_LINK


def test_nobody_empties_the_caches_of_all_or_asks_where_files_go() -> None:
    assert bounded(BackMsg(stop_script=True))
    large = BackMsg()
    large.backend_operation_request.request_id = "x" * MOST_BYTES
    assert not bounded(large), "too large for a message of any kind"
    assert not bounded(BackMsg(clear_cache=True))
    assert not bounded(BackMsg(file_urls_request=FileURLsRequest(file_names=["a"])))


def test_a_second_call_changes_nothing_and_nobody_outside_is_asked() -> None:
    guard.guard()
    handle = AppSession.handle_backmsg
    guard.guard()
    assert AppSession.handle_backmsg is handle and net_util.get_external_ip() is None


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
