"""The hand-written interactive figures: the data sent to each (``<name>.py``) and its code in the browser
(``<name>.js``, ``<name>.css``, and ``shared.js``, which all of them have).

Nothing here knows Streamlit; :func:`lab.ui.components.mount` puts one on a page.
"""

from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent


@cache
def script(name: str) -> str:
    """The JavaScript module of a component: ``shared.js`` and its own, read once.

    Raises FileNotFoundError when there is no such component.
    """
    return "\n".join((_HERE / file).read_text("utf-8") for file in ("shared.js", f"{name}.js"))


@cache
def style(name: str) -> str:
    """The CSS of a component: ``shared.css`` and its own. Raises FileNotFoundError as :func:`script` does."""
    return "\n".join((_HERE / file).read_text("utf-8") for file in ("shared.css", f"{name}.css"))
