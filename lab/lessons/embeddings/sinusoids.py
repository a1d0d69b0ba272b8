"""What sinusoids can do: the screens of the embeddings lesson about wavelengths and about shifts."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.layers.positions import frequencies, shift_matrix, sinusoids, wavelengths
from lab.lessons.embeddings import figures, side_meanings
from lab.lessons.embeddings.positions import settings
from lab.lessons.embeddings.screens import EmbeddingView, signed
from lab.ui import sidebar
from lab.ui.drawing import code, draw
from lab.ui.frame.script import meaning, try_this
from lab.ui.one_head import choose_token
from lab.ui.parameters import PE_BASE, PE_SHIFT


def show_wavelengths(_view: EmbeddingView) -> None:
    """Low dimensions turn fast, high ones slowly."""
    st.markdown(
        "How do sinusoids tell near positions apart, and far ones, too? From one position to the next, pair i of the "
        "dimensions turns by the angle $\\omega_i$. After one whole turn its sine and cosine begin again: the number "
        "of positions until then is its **wavelength**."
    )
    length, width, base = settings()
    st.latex(r"\omega_i = \text{base}^{-2i/d}, \qquad i = 0, 1, \dots, \tfrac{d}{2} - 1")
    waves = wavelengths(width, base)
    draw(partial(figures.waves, length, width, base), "waves")
    draw(partial(figures.wavelength_by_dimension, width, base), "wavelengths")
    st.latex(r"\text{wavelength}_i = \frac{2\pi}{\omega_i} = 2\pi \cdot \text{base}^{2i/d}")
    st.markdown(
        f"The last pair, i = {width // 2 - 1}, makes {length / waves[-1]:.3g} turns over the {length} positions on "
        f"screen. Each wavelength is {base ** (2 / width):.3f} times the one before."
    )
    meaning(side_meanings.turns(length, width, base))
    if base == PE_BASE.default:
        why = "with a small base every pair turns faster. How many turn round now?"
        try_this(why, "Take the base 100", {PE_BASE: 100})
    code(wavelengths)


def show_shift(view: EmbeddingView) -> None:
    """A step of k positions is the same rotation wherever it starts."""
    st.markdown("Can a model find the token a few places further on, from anywhere, by one and the same matrix?")
    length, width, base = settings()
    choose_token(view.trace, "Token", view.token)
    with sidebar.controls():
        k = PE_SHIFT.choose("Shift k")
    place = view.token
    st.markdown(
        "Go k positions further: each pair of dimensions turns by the angle k·ω, wherever it was. So PE(p + k) is a "
        f"**matrix M** times PE(p), and M depends on k, not on p. Here p = {place}, the position of {view.word} (token "
        f"{place + 1})."
    )
    turn, omega = shift_matrix(k, width, base), frequencies(width, base)
    st.latex(
        r"\begin{aligned} & \begin{pmatrix}\sin(p+k)\omega\\ \cos(p+k)\omega\end{pmatrix} \\ & = \begin{pmatrix}"
        r"\cos k\omega & \sin k\omega\\ -\sin k\omega & \cos k\omega\end{pmatrix}"
        r"\begin{pmatrix}\sin p\,\omega\\ \cos p\,\omega\end{pmatrix} \end{aligned}"
    )
    left, right = st.columns([2, 3])
    with left:
        draw(partial(figures.shift_matrix, k, width, base), "shift-matrix")
    with right:
        draw(partial(figures.shifted, place, k, width, base), "shift")
    before, after = sinusoids([place, place + k], width, base)
    sine, cosine = before[0], before[1]
    st.markdown(f"In dimension 1, where ω = 1: the first row of M times PE({place}), and PE({place + k}) itself.")
    st.latex(
        rf"\begin{{aligned}} & \cos({k * omega[0]:.4g}) \cdot {signed(sine)} + \sin({k * omega[0]:.4g}) \cdot "
        rf"{signed(cosine)} = {(turn @ before)[0]:.4f} \\ & \sin({(place + k) * omega[0]:.4g}) = {after[0]:.4f} "
        r"\end{aligned}"
    )
    _verify(length, k, width, base)
    code(shift_matrix)


def _verify(length: int, k: int, width: int, base: float) -> None:
    """The matrix for k on every position, and, as a check that can fail, the one for k + 1."""
    right, wrong = (side_meanings.shift_errors(length, k, of, width, base) for of in (k, k + 1))
    with st.container(horizontal=True):
        st.metric(f"max |M · PE(p) − PE(p + {k})|", f"{right:.1e}", border=True, width="content")
        st.metric(f"the same with the matrix for {k + 1}", f"{wrong:.3f}", border=True, width="content")
    st.caption(f"Over the positions p = 0 to {length - 1} and all {width} dimensions, in float64.")
    meaning(side_meanings.one_matrix(length, k, width, base))
