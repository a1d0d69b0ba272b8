"""The hand-written interactive figures: the data sent to each (``<name>.py``) and its code in the browser
(``<name>.js``, ``<name>.css``, and ``shared.js``, which all figures use).

No module of this package imports Streamlit; :func:`lab.ui.components.mount` puts a component on a page.
"""

from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent


@cache
def javascript(name: str) -> str:
    """Return the JavaScript module of a component: ``shared.js`` and the component's own file, each read once.

    Raises FileNotFoundError when there is no such component.
    """
    return "\n".join((_HERE / file).read_text("utf-8") for file in ("shared.js", f"{name}.js"))


@cache
def style(name: str) -> str:
    """Return the CSS of a component: ``shared.css`` and the component's own file.

    Raises FileNotFoundError as :func:`javascript` does.
    """
    return "\n".join((_HERE / file).read_text("utf-8") for file in ("shared.css", f"{name}.css"))
