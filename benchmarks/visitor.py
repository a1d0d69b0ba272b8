"""A visitor without a browser: speaks Streamlit's protocol over a WebSocket and keeps what is on the page.

    async with visiting(lab.url) as visitor:
        await visitor.open("Self-attention", text="The cat sat.")
        await visitor.choose("layer", "2")

Every call waits until the server has finished what it started, as a learner does, and returns an :class:`Answer`.
Protocol: Streamlit's ``BackMsg`` and ``ForwardMsg`` (proto/ in its repository), one in each binary frame.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from lab.first_visit import SUBPROTOCOLS

PATIENCE = 120.0  # seconds until a run counts as lost
_RUNNING_FIELDS = ("new_session", "session_status_changed")
_RESTARTED = ForwardMsg.FINISHED_EARLY_FOR_RERUN


@dataclass(frozen=True)
class Answer:
    """One run of a page as the visitor sees it.

    Attributes
    ----------
    seconds
        From the visitor's click to the end of the run.
    running_after
        Seconds until the page was told that it runs, which is when a browser shows it.
    errors
        Exceptions on the page, and a socket that broke; none when all is well.
    lost
        Whether the connection is gone, or no end of the run came within ``PATIENCE`` seconds.
    """

    seconds: float
    running_after: float
    errors: tuple[str, ...]
    lost: bool = False


@dataclass
class Visitor:
    """One open page. ``widgets`` are on it now, by the name of their URL parameter or key, ``words`` what it says.

    ``fragment`` is the part of it that asks to be drawn again every ``pause`` seconds, if there is one. ``session`` is
    the server's name for the visit.
    """

    socket: ClientConnection
    widgets: dict[str, Element] = field(default_factory=dict)
    buttons: dict[str, str] = field(default_factory=dict)
    popovers: dict[str, str] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    fragment: str = ""
    pause: float = 0.0
    session: str = ""
    _parts: dict[str, str] = field(default_factory=dict)
    _page: str = ""
    _chosen: dict[str, WidgetState] = field(default_factory=dict)

    async def open(self, page: str, **parameters: str) -> Answer:
        """Follow a link, here from another page or for the first time."""
        self.query |= parameters
        known = self.pages.get(page)
        if known is None:
            return await self._rerun(ClientState(page_name=page))
        self._page = known
        self._chosen.clear()
        return await self._rerun(ClientState(page_script_hash=known))

    async def choose(self, name: str, option: str) -> Answer:
        """Set a select box, a row of segments or a text to ``option``, as it reads on screen."""
        self.fill(name, option)
        return await self._rerun(ClientState(page_script_hash=self._page))

    def fill(self, name: str, option: str) -> None:
        """The same in a form, which is sent by its button."""
        element = self.widgets[name]
        kind = element.WhichOneof("type")
        assert kind is not None, name
        state = WidgetState(id=getattr(element, kind).id)
        if kind == "bidi_component":
            state.json_value = option
        elif kind == "button_group":
            state.string_array_value.data.append(option)
        else:
            state.string_value = option
        self._chosen[name] = state
        if getattr(getattr(element, kind), "query_param_key", ""):
            self.query[name] = option

    async def press(self, label: str) -> Answer:
        """Click a button."""
        click = WidgetState(id=self.buttons[label], trigger_value=True)
        part = self._parts.get(click.id, "")
        return await self._rerun(ClientState(page_script_hash=self._page, fragment_id=part), click)

    async def unfold(self, label: str) -> Answer:
        """Open a popover that tells the server, as the badge of a page does."""
        opened = WidgetState(id=self.popovers[label], bool_value=True)
        return await self._rerun(ClientState(page_script_hash=self._page), opened)

    async def look_again(self) -> Answer:
        """What a browser does by itself where a part of the page asks for it."""
        again = ClientState(page_script_hash=self._page, fragment_id=self.fragment, is_auto_rerun=True)
        return await self._rerun(again)

    def options(self, name: str) -> list[str]:
        """What a select box or a row of segments offers; nothing where it is not on the page."""
        element = self.widgets.get(name)
        if element is None:
            return []
        if element.HasField("button_group"):
            return [option.content for option in element.button_group.options]
        return list(element.radio.options if element.HasField("radio") else element.selectbox.options)

    async def _rerun(self, state: ClientState, *clicks: WidgetState) -> Answer:
        state.query_string = urlencode(self.query)
        state.widget_states.widgets.extend([*self._chosen.values(), *clicks])
        start = time.perf_counter()
        running, errors, lost = None, list[str](), False
        whole = not state.fragment_id
        try:
            async with asyncio.timeout(PATIENCE):
                await self.socket.send(BackMsg(rerun_script=state).SerializeToString())
                while True:
                    message = ForwardMsg.FromString(await self.socket.recv(decode=False))
                    kind = message.WhichOneof("type")
                    if running is None and kind in _RUNNING_FIELDS:
                        running = time.perf_counter() - start
                    errors += self._take(message, whole)
                    # A part of the page that finds something new has the whole page drawn.
                    whole = whole or kind == "script_finished"
                    if kind == "script_finished" and message.script_finished != _RESTARTED:
                        break
        except (ConnectionClosed, TimeoutError) as error:
            errors.append(f"{type(error).__name__}: {error}")
            lost = True
        seconds = time.perf_counter() - start
        return Answer(seconds, seconds if running is None else running, tuple(errors), lost)

    def _take(self, message: ForwardMsg, whole: bool = True) -> list[str]:
        """Put a message on the page, of which the ``whole`` is drawn; returns what is wrong with it."""
        kind = message.WhichOneof("type")
        if kind == "new_session" and whole:
            self._page = message.new_session.page_script_hash
            self.session = message.new_session.initialize.session_id
            for shown in (self.widgets, self.buttons, self.popovers, self.words, self._parts):
                shown.clear()
            self.fragment = ""
        elif kind == "auto_rerun":
            self.fragment, self.pause = message.auto_rerun.fragment_id, message.auto_rerun.interval
        elif kind == "navigation":
            self._page = message.navigation.page_script_hash
            self.pages = {page.url_pathname: page.page_script_hash for page in message.navigation.app_pages}
        elif kind == "page_info_changed":
            self.query = dict(parse_qsl(message.page_info_changed.query_string))
        elif kind == "delta" and message.delta.HasField("new_element"):
            part = message.delta.fragment_id
            if message.delta.new_element.HasField("button"):
                self._parts[message.delta.new_element.button.id] = part
            return self._draw(message.delta.new_element)
        elif kind == "delta" and message.delta.add_block.HasField("popover"):
            popover = message.delta.add_block.popover
            self.popovers[popover.label] = popover.id
        elif kind == "script_finished" and message.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
            return ["the page does not compile"]
        elif kind == "page_not_found":
            return ["page not found"]
        return []

    def _draw(self, element: Element) -> list[str]:
        kind = element.WhichOneof("type")
        if kind == "exception":
            return [f"{element.exception.type}: {element.exception.message}"]
        if kind == "button":
            self.buttons[element.button.label] = element.button.id
        elif kind in ("alert", "heading", "markdown", "html"):
            self.words.append(getattr(element, kind).body)
        elif kind in ("selectbox", "button_group", "radio", "text_area", "text_input", "bidi_component"):
            widget = getattr(element, kind)
            if kind == "bidi_component" and widget.component_name == "lab.address":  # as its script does
                self.query = json.loads(widget.json)["shown"] | self.query
            # An id ends with the widget's key, where it has one.
            self.widgets[getattr(widget, "query_param_key", "") or widget.id.partition("-")[2].partition("-")[2]] = (
                element
            )
        return []


@asynccontextmanager
async def visiting(url: str, source: str | None = None) -> AsyncIterator[Visitor]:
    """A visitor with a page of its own, not opened yet; ``source`` is the address of this machine to come from."""
    address = url.replace("http", "ws", 1) + "/_stcore/stream"
    # No pings of our own: a browser sends none, it answers the server's.
    async with connect(
        address,
        subprotocols=SUBPROTOCOLS,
        max_size=None,
        open_timeout=PATIENCE,
        ping_interval=None,
        local_addr=None if source is None else (source, 0),
    ) as socket:
        yield Visitor(socket)
