"""Streamlit's AppTest as a server that has been visited before: importing this module makes it so.

On a server, the first ``st.navigation`` ends the reign of the folder ``pages/`` for good. AppTest brings it back at
every run; each run would then begin with the guard's rerun, which swallows clicks and takes half of the time. The
guard itself is tested in a browser, on a fresh server.
"""

from __future__ import annotations

from typing import Any

from streamlit.runtime.pages_manager import PagesManager

_start = PagesManager.__init__


def _start_routed(self: PagesManager, *args: Any, **settings: Any) -> None:
    _start(self, *args, **settings)
    PagesManager.uses_pages_directory = False


PagesManager.__init__ = _start_routed  # type: ignore[method-assign]
