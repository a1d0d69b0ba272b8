"""A text as chips, one for each token, on a page."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from lab.charts.tokens.token_chips import Chip, token_chips

_MANY = 200  # more chips than this scroll in a box
_BOX = 460  # pixels


def draw_chips(chips: Sequence[Chip], ids: Sequence[int] | None = None, groups: Sequence[int] | None = None) -> None:
    """Draw a text as chips; many chips scroll in a box instead of filling the page.

    ``ids`` and ``groups`` have one number for each token: the token's id, and its group. The tokens of a group have the
    same colour.
    """
    with st.container(height=_BOX if len(chips) > _MANY else "content", border=False):
        st.html(token_chips(chips, ids=ids, groups=groups))
