"""No server keeps anything that somebody uploads to it, whatever the form."""

from __future__ import annotations

import http.client
import re
import urllib.parse
import urllib.request
from collections.abc import Iterable

from benchmarks.server import Lab, usage
from benchmarks.visitor import visiting
from tests.load.test_load import run

TIMES = 40
BODY = '--x\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n{content}\r\n--x--\r\n'


def put(lab: Lab, session: str, number: int, body: bytes | Iterable[bytes]) -> int:
    """The status of an upload by a session; a body in pieces is sent in chunks, without its length."""
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(lab.url).netloc, timeout=30)
    connection.request("GET", "/_stcore/health")
    answer = connection.getresponse()
    answer.read()
    cookie = re.search(r"_streamlit_xsrf=([^;]+)", answer.getheader("Set-Cookie") or "")
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    if cookie:
        headers |= {"Cookie": f"_streamlit_xsrf={cookie[1]}", "X-Xsrftoken": cookie[1]}
    try:
        connection.request("PUT", f"/_stcore/upload_file/{session}/{number}", body, headers)
        return connection.getresponse().status
    except (BrokenPipeError, ConnectionResetError):
        return 413  # the server has hung up before it was told everything
    finally:
        connection.close()


def keeps_files(lab: Lab) -> bool:
    """Whether Streamlit counts any file, be it empty."""
    with urllib.request.urlopen(lab.url + "/_stcore/metrics") as answer:
        return "UploadedFileManager" in answer.read().decode()


def test_a_file_with_content_is_refused_and_an_empty_one_is_dropped(lab: Lab) -> None:
    whole = BODY.format(name="a", content="x" * 1_000_000).encode()
    empty = BODY.format(name="n" * 900, content="").encode()
    nothing = BODY.format(name="", content="").encode()

    async def upload() -> list[set[int]]:
        async with visiting(lab.url) as visitor:
            await visitor.open("")
            seen, before = [], usage(lab.process.pid).megabytes
            for body in (whole, [whole[:1000], whole[1000:]], empty, [empty], nothing, [nothing]):
                sent = [put(lab, visitor.session, number, body) for number in range(TIMES)]
                seen.append(set(sent))
            assert not keeps_files(lab)
            assert usage(lab.process.pid).megabytes - before < TIMES / 2
            return seen

    statuses = run(upload())
    assert statuses[:3] == [{413}, {413}, {413}], "with a length, and a megabyte without one"
    # An empty file without a length is the one that Streamlit takes.
    assert statuses[3] == {204}
