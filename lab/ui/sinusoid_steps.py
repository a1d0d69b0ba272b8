"""What sinusoids can do: the screens of the embeddings lesson about wavelengths and about shifts."""

from __future__ import annotations

import numpy as np
import streamlit as st

from lab.analysis.positions import frequencies, shift_matrix, sinusoids, wavelengths
from lab.charts import heatmap, lines, strips
from lab.course import embedding_checks as ask
from lab.ui import selection
from lab.ui.embedding_steps import DIMENSIONS, LESSON, View, choose_token, signed
from lab.ui.figures import code, draw
from lab.ui.position_steps import settings, slider
from lab.ui.quiz import predict

_WAVES = 4  # pairs of dimensions drawn as curves, at even steps


def show_wavelengths(_view: View) -> None:
    """Low dimensions turn fast, high ones slowly."""
    length, width, base = settings()
    if not predict(LESSON, ask.turns_fastest(width, base)):
        return
    waves = wavelengths(width, base)
    steps = np.unique(np.linspace(0, width // 2 - 1, _WAVES).round().astype(int))
    pe = sinusoids(np.arange(length), width, base)
    draw(
        lines(
            {f"dimension {2 * i + 1}": pe[:, 2 * i] for i in steps}, x=range(length), x_title="Position",
            y_title="Value", title="Sines of some dimensions", y_domain=(-1.0, 1.0),
        ),
        "waves",
    )  # fmt: skip
    draw(
        lines(
            {"wavelength": np.log10(waves)}, x=range(1, width, 2), x_title="Dimension",
            y_title="log₁₀ of the wavelength", title="Wavelength of each pair",
        ),
        "wavelengths",
    )  # fmt: skip
    st.latex(r"\text{wavelength}_i = \frac{2\pi}{\omega_i} = 2\pi \cdot \text{base}^{2i/d}")
    turns = length / waves[-1]
    st.markdown(
        f"The first pair turns once in 2π = {waves[0]:.2f} positions, the last, i = {width // 2 - 1}, once in "
        f"**{waves[-1]:,.1f}**: over the {length} positions on screen it makes {turns:.3g} turns. Each pair’s "
        f"wavelength is {base ** (2 / width):.3f} times that of the pair before, so their logarithms lie on a "
        "straight line. Try a small base, then look at the similarity of distant positions again."
    )
    code(wavelengths)


def show_shift(view: View) -> None:
    """A step of k positions is the same rotation wherever it starts."""
    length, width, base = settings()
    choose_token(view.trace, view.token)
    slider("pe_shift", "Shift k", 1)
    k, place = min(max(selection.current().pe_shift, 1), 64), view.token
    st.markdown(
        "Moving k positions on turns each pair by the angle k·ω, wherever it stood: PE(p + k) is **one matrix** times "
        f"PE(p), and the matrix M knows k but not p. Here p = {place}, the position of {view.word}."
    )
    turn, omega = shift_matrix(k, width, base), frequencies(width, base)
    st.latex(
        r"\begin{aligned} & \begin{pmatrix}\sin(p+k)\omega\\ \cos(p+k)\omega\end{pmatrix} \\ & = \begin{pmatrix}"
        r"\cos k\omega & \sin k\omega\\ -\sin k\omega & \cos k\omega\end{pmatrix}"
        r"\begin{pmatrix}\sin p\,\omega\\ \cos p\,\omega\end{pmatrix} \end{aligned}"
    )
    left, right = st.columns([2, 3])
    size = min(width, 8)
    with left:
        names = [str(i + 1) for i in range(size)]
        draw(
            heatmap(
                turn[:size, :size], names, names, title=f"The matrix for k = {k}, its first {size} dimensions",
                row_title="Into dimension", column_title="From dimension", value_title="Factor", scale="diverging",
                domain=(-1.0, 1.0), value_format=".2f", numbered=False,
            ),
            "shift-matrix",
        )  # fmt: skip
    before, after = sinusoids([place, place + k], width, base)
    with right:
        shown = slice(0, min(width, DIMENSIONS))
        draw(
            strips(
                [before[shown], (turn @ before)[shown], after[shown]],
                [f"PE({place})", f"M · PE({place})", f"PE({place + k})"],
                title=f"Position {place}, multiplied, and position {place + k}", value_title="Value",
                domain=(-1.0, 1.0),
            ),
            "shift",
        )  # fmt: skip
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
    rows, moved = sinusoids(np.arange(length), width, base), sinusoids(np.arange(length) + k, width, base)
    right, wrong = (float(np.abs(rows @ shift_matrix(s, width, base).T - moved).max()) for s in (k, k + 1))
    with st.container(horizontal=True):
        st.metric(f"max |M · PE(p) − PE(p + {k})|", f"{right:.1e}", border=True, width="content")
        st.metric(f"the same with the matrix for {k + 1}", f"{wrong:.3f}", border=True, width="content")
    st.caption(f"Over the positions p = 0 to {length - 1} and all {width} dimensions, in float64.")
