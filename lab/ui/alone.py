"""One figure alone, for a frame in a slide or a course page: ``?alone=KEY&embed=true`` on the address of its page.

The page's script runs as always, so that the figure gets the choices of the link. But nothing of the page is sent to
the browser, other figures are not made, and the script ends when the figure is drawn. Whoever frames it gets a figure
and no more: no menu, no button of the page, and one link, which opens the page in a tab of its own. A visit that began
with a figure alone stays so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.RootContainer_pb2 import RootContainer
from streamlit.runtime.scriptrunner import StopException, get_script_run_ctx

# Not part of Streamlit's interface: tests/pages/test_alone.py fails if a version of Streamlit has them no more.
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState

from lab.course.words import escaped, quoted
from lab.ui import address, parameters, selection

_LONGEST = 100  # characters of a figure's name
_WANTED, _PLACE, _FOLDS = "_alone", "_alone_place", "_alone_folds"
_STYLE = """<style>
.stAppHeader, [data-testid="stSidebar"], [data-testid="stExpandSidebarButton"] { display: none; }
.stMainBlockContainer { padding: 0.5rem 0.75rem !important; max-width: none; }
</style>"""


class _Drawn(StopException):
    """The figure is drawn, and the rest of the page need not run."""


@dataclass
class _Gate:
    """Lets pass what belongs to the first container that it sees, and what draws nothing.

    ``folds`` are the keys of the page's folds, in which figures may be.
    """

    send: Callable[[ForwardMsg], None]
    place: tuple[int, ...] | None = None
    folds: list[str] = field(default_factory=list)

    def __call__(self, message: ForwardMsg) -> None:
        kind, path = message.WhichOneof("type"), tuple(message.metadata.delta_path)
        if kind == "auto_rerun":  # a part of the page would draw itself again, without this gate
            return
        if kind not in ("delta", "ref_hash"):
            return self.send(message)
        if self.place is None:
            self.place = path
        if path[: len(self.place)] == self.place:
            return self.send(message)
        if path[:1] == (RootContainer.EVENT,) and message.delta.new_element.WhichOneof("type") == "html":
            return self.send(message)  # a style sheet, which a figure may need
        fold = message.delta.add_block.expandable.id if kind == "delta" else ""
        if fold.count("-") >= 2 and not fold.endswith("-None"):
            self.folds.append(fold.split("-", 2)[2])


def wanted() -> str | None:
    """Return the key of the figure that this visit shows alone; None if it shows pages, "" if the link names none."""
    if _WANTED not in st.session_state:
        asked = address.figure_alone()
        st.session_state[_WANTED] = None if asked is None else asked[:_LONGEST]
    found: str | None = st.session_state[_WANTED]
    return found


def is_on() -> bool:
    """Return whether this visit shows one figure alone."""
    return wanted() is not None


def skips(key: str) -> bool:
    """Return whether the figure ``key`` is not to be made, because the visit shows another one alone."""
    return wanted() not in (None, key)


@contextmanager
def drawing(key: str, heading: str) -> Iterator[None]:
    """Draw a figure: in its place on the page, or alone, with its ``heading`` below; then the page ends with it."""
    if wanted() is None or skips(key):
        yield
        return
    place = st.session_state[_PLACE]
    # Outside of the page's fragments: a click runs the whole page again, with the gate.
    with ThreadState.scoped(fragment_id=None, delta_path=None), place:
        yield
        st.caption("  \n".join(each for each in (_source(heading), _label()) if each))
    raise _Drawn


def _source(heading: str) -> str:
    """Name the figure, and link to its page, which opens beside the frame."""
    # Not the address of the frame, which does not follow the clicks in it.
    page = address.absolute(selection.link() | {parameters.STEP.name: parameters.STEP.chosen()})
    lab = f"[Inside BERT]({page})" if page else "Inside BERT"
    return f"{escaped(heading)} · {lab}" if heading else lab


def _label() -> str:
    """Say of a model that has learned nothing, or of a toy, that it is one; "" for a trained model."""
    if parameters.MODE.chosen() == parameters.TOY:
        return f"A toy model. Its weights: {parameters.TOY_WEIGHTS.chosen()}."
    if parameters.TRAINING.chosen() == parameters.RANDOM:
        return f"Random weights, seed {parameters.TWIN_SEED.chosen()}: nothing is learned here."
    return ""


@contextmanager
def only() -> Iterator[None]:
    """Run a page of which only the wanted figure is drawn.

    If the page ends without the figure, it runs again with its folds open; then it says that there is no such figure.
    """
    context = get_script_run_ctx()
    assert context is not None, "a page is drawn in a script run"
    for fold in st.session_state.get(_FOLDS, ()):
        st.session_state[fold] = True
    st.html(_STYLE)
    send = context._enqueue
    gate = context._enqueue = _Gate(send)
    st.session_state[_PLACE] = place = st.container(key="alone")
    try:
        yield
    except _Drawn:
        return
    except StopException:
        pass  # the page has said why it shows nothing
    finally:
        context._enqueue = send
    _missing(place, gate.folds)


def _missing(place: DeltaGenerator, folds: list[str]) -> None:
    if folds and _FOLDS not in st.session_state:
        st.session_state[_FOLDS] = folds
        st.rerun()
    with place:
        st.info(
            f"With these choices, this page has no figure {quoted(wanted() or '')}. Open the page and take the address "
            "from the figure’s corner again.",
            icon=":material/info:",
        )
        if page := st.context.url:
            st.link_button("Open the page", page)
