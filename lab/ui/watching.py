"""Who is still there: what takes long goes on only while somebody waits for it."""

from __future__ import annotations

from dataclasses import dataclass

from streamlit.runtime import exists, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx


@dataclass(frozen=True)
class Visit:
    """A visit by its session. Called, it says whether its browser is connected, on whatever page."""

    session: str

    def __call__(self) -> bool:
        return not exists() or get_instance().is_active_session(self.session)


def this_visit() -> Visit:
    """The visit whose page this thread draws."""
    context = get_script_run_ctx()
    return Visit("" if context is None else context.session_id)
