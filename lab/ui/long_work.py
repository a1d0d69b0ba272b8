"""Work that takes more than a second and runs in the background while somebody waits.

The button that starts the work, its progress, and the button Stop.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import streamlit as st
from streamlit.runtime import exists, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

from lab.models import jobs
from lab.models.batches import ProgressFunction
from lab.models.cores import COUNT, give_way, one_core, step_back
from lab.models.jobs import Job, Pool, TooMany
from lab.ui.guard import trim
from lab.ui.visitor import Visitor, this_visitor

_POLL = 1.0  # seconds
_BEGUN, _LEFT = "_begun_unasked", "_left_runs"
# Places protect memory and cores: twenty runs at once would each take twenty times as long, and hold twenty models.
# So a machine with many cores has no more places than these. Toys that train have places here, too.
_MOST_PLACES = 11
POOL = Pool(min(COUNT, _MOST_PLACES))
Work = Callable[[ProgressFunction], object]


def offer(key: Hashable, label: str, work: Work, help: str = "", *, brief: bool = False) -> None:
    """Draw the button that begins ``work``, or, while the work goes on, the share that is done and a Stop button.

    ``key`` is a value that belongs to this work alone; :func:`serial_of` makes one of an object. ``work`` must keep its
    own result. It receives a function to call with the share done; the call raises once the learner has stopped the
    work. When the work is over, the page runs again. ``brief`` work takes seconds, and does not wait behind work of
    minutes.
    """
    found = jobs.running(key)
    if found is not None and found.error is not None:
        st.error(str(found.error), icon=":material/error:")
    elif found is not None and not has_left(key):
        _progress(key, label)
        return
    elif found is not None:
        label, help = f"Follow the run: {found.share:.0%} is done", f"Others wait for this run, so it goes on. {help}"
    icon, args = ":material/play_arrow:", (key, work, brief)
    st.button(label, key=f"_run.{hash(key)}", icon=icon, help=help or None, on_click=begin, args=args)
    if found is None and has_left(key):
        st.caption("You have stopped this run.")


def unasked(key: Hashable, label: str, work: Work) -> None:
    """Begin ``work`` that takes only a few seconds at once, and draw what :func:`offer` draws.

    During a visit, the work begins by itself only once: after Stop or an error, the button begins it again.
    """
    begun: set[Hashable] = st.session_state.setdefault(_BEGUN, set())
    if key not in begun:
        begun.add(key)
        begin(key, work, brief=True)
    offer(key, label, work, brief=True)


def begin(key: Hashable, work: Work, brief: bool) -> None:
    """Run ``work`` in the background (or join it if it runs already) as long as any visit waits for the result.

    Each time the work reports its progress, threads that wait for a core go first. If the server takes no more runs of
    this visitor, the page says so.
    """

    def run(job: Job) -> None:
        def tell(done: float) -> None:
            job.tell(done, 1.0)
            give_way()

        step_back()
        try:
            with one_core():
                work(tell)
        finally:
            trim()

    try:
        join(jobs.start(key, run, watcher=this_visit(), pool=POOL, brief=brief))
    except TooMany as reason:
        st.toast(str(reason), icon=":material/hourglass_top:", duration="long")


_numbers: WeakKeyDictionary[object, int] = WeakKeyDictionary()
_next_number = itertools.count()


def serial_of(state: object) -> int:
    """Return the number of an object in this process, for the key of a job. No other object ever gets this number."""
    found = _numbers.get(state)
    return _numbers.setdefault(state, next(_next_number)) if found is None else found


def _left() -> set[Hashable]:
    """The jobs that this visit has stopped and not begun again."""
    left: set[Hashable] = st.session_state.setdefault(_LEFT, set())
    return left


def join(found: Job) -> None:
    """Let this visit, which has begun a job or joined it, see the job's progress."""
    _left().discard(found.key)


def leave(found: Job) -> None:
    """End a job for this visit: if others wait for it, too, it goes on for them."""
    _left().add(found.key)
    found.unwatch(this_visit())


def has_left(key: Hashable) -> bool:
    """Return whether this visit has stopped a job, for itself at least: it may go on for others."""
    return key in _left()


@dataclass(frozen=True)
class Visit:
    """A visit, identified by its session, and the visitor to whose share of the server it belongs.

    A call returns whether the visit's browser is still connected, no matter on which page.
    """

    session: str
    visitor: Visitor = field(compare=False)

    @property
    def address(self) -> Hashable:
        """The visitor's address."""
        return self.visitor.address

    @property
    def browser(self) -> Hashable:
        """The visitor's browser."""
        return self.visitor.browser

    def __call__(self) -> bool:
        return not exists() or get_instance().is_active_session(self.session)


def this_visit() -> Visit:
    """Return the visit whose page this thread draws."""
    context = get_script_run_ctx()
    return Visit("" if context is None else context.session_id, this_visitor())


@st.fragment(run_every=_POLL)
def _progress(key: Hashable, label: str) -> None:
    found = jobs.running(key)
    if found is None or found.error is not None:
        st.rerun()
    found.watch(this_visit())
    with st.container(border=True):
        waits = "Other runs on this server come first." if found.waiting else f"{label}: {found.share:.0%}"
        st.progress(found.share, waits)
        st.markdown(
            "You can keep working, on this page or any other: the run continues. When you leave the lab, the run "
            "stops, unless others wait for it."
        )
        st.button("Stop", key=f"_stop.{hash(key)}", icon=":material/stop:", on_click=leave, args=(found,))
