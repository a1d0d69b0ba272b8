"""Visit a server that has just started, so that it loads everything before anybody comes.

    python -m lab.first_visit http://127.0.0.1:8501

Waits until the server answers, opens a lesson as a browser does, and leaves. The server then has PyTorch, the default
model and the tagger in memory, and the first learner waits no longer than the second. The image of the Dockerfile does
this by itself.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import InvalidHandshake
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

_PAGES = ("Self-attention", "Head_specialization")  # the second one needs the tagger, too
# A browser sends its XSRF token as the second; Streamlit answers with the first.
SUBPROTOCOLS = [Subprotocol("streamlit"), Subprotocol("x")]
_PATIENCE = 120.0  # seconds for the server to answer, and for a page
_PAUSE = 0.5


def visit(address: str, pages: Sequence[str] = _PAGES) -> float:
    """Open ``pages`` on the server at ``address``; return the seconds that the first one took.

    Raises TimeoutError if the server or a page takes longer than two minutes.
    """

    def run(socket: ClientConnection, page: str) -> float:
        began = time.monotonic()
        socket.send(BackMsg(rerun_script=ClientState(page_name=page)).SerializeToString())
        done: object = None
        while done not in (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_WITH_COMPILE_ERROR):
            message = ForwardMsg.FromString(socket.recv(timeout=_PATIENCE, decode=False))
            done = message.script_finished if message.HasField("script_finished") else None
        return time.monotonic() - began

    with _connection(address) as socket:
        first, *_ = [run(socket, page) for page in pages]
        return first


def _connection(address: str) -> ClientConnection:
    """Connect as soon as the server answers."""
    until = time.monotonic() + _PATIENCE
    at = urlsplit(address)
    stream = f"{'wss' if at.scheme == 'https' else 'ws'}://{at.netloc}{at.path.rstrip('/')}/_stcore/stream"
    while True:
        try:
            return connect(stream, subprotocols=SUBPROTOCOLS, max_size=None)
        except (OSError, InvalidHandshake):
            if time.monotonic() > until:
                raise TimeoutError(f"No server answers at {address}.") from None
            time.sleep(_PAUSE)


def main(arguments: Sequence[str] | None = None) -> int:
    """Visit, and say how long it took; returns 1 if no server answers."""
    parser = argparse.ArgumentParser(prog="python -m lab.first_visit", description=__doc__.partition("\n")[0])
    parser.add_argument("address", help="of the server, as http://127.0.0.1:8501")
    try:
        seconds = visit(parser.parse_args(arguments).address)
    except TimeoutError as late:
        print(late)
        return 1
    print(f"The first lesson took {seconds:.1f} s; everything is loaded now.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
