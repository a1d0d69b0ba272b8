"""Altair under its usual name, `from lab.charts.base import alt`, loaded when the first plain chart is drawn.

Loading Altair takes a fifth of a second and 22 MB, and most of the lab's modules import a chart that they may never
draw.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from altair import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        """Load Altair, and return the object that has this name in Altair."""
        import altair

        return getattr(altair, name)
