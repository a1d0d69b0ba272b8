"""By hand: two neurons and two LayerNorms with small numbers."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from lab.analysis.layers.worked import WorkedNetwork, WorkedNorm, worked_network, worked_norm
from lab.ui.quiz.blanks import blanks


def by_hand(_view: object) -> None:
    """One neuron shown, one with blanks; one LayerNorm shown, one with blanks."""
    st.markdown("Small numbers, two neurons, an exact GELU. Round your answers to two decimals.")
    network = _network(worked_network())
    st.divider()
    st.markdown("LayerNorm, on four numbers.")
    if _norm(worked_norm()) and network:
        st.success("That is all a layer does after attention. The lab does the same, wider.", icon=":material/check:")


def _network(example: WorkedNetwork) -> bool:
    left, right = st.columns(2)
    left.dataframe(
        pd.DataFrame(
            {"x": example.vector.numpy(), "w of neuron 1": example.w_1[:, 0], "w of neuron 2": example.w_1[:, 1]},
            index=[f"dimension {i}" for i in (1, 2, 3)],
        )
    )
    right.dataframe(
        pd.DataFrame(
            {"Φ(z)": [0.1587, 0.3085, 0.5, 0.6915, 0.8413, 0.9332]},
            index=pd.Index([-1.0, -0.5, 0.0, 0.5, 1.0, 1.5], name="z"),
        )
    )
    st.markdown("**Neuron 1**, bias 0.5")
    st.latex(
        r"\begin{aligned} z &= 1 \cdot 2 + 2 \cdot 0 + (-1) \cdot 1 + 0.5 = 1.5 \\ "
        rf"a &= z\,\Phi(z) = 1.5 \times 0.9332 = {float(example.active[0]):.2f} \end{{aligned}}"
    )
    st.markdown("**Neuron 2**, bias 0.5")
    hidden, active = float(example.hidden[1]), float(example.active[1])
    right_sum = blanks(
        {"z": hidden, "a": active}, "z is x · w + 0.5; a is z times Φ(z), from the table.", "_hand.neuron"
    )
    if not right_sum:
        return False
    rows = [[int(v) for v in row] for row in example.w_2.tolist()]
    st.markdown(f"**Back to three dimensions.** The rows of $W_2$ are {rows[0]} and {rows[1]}, $b_2$ is 0.")
    return blanks(
        {f"Output {i + 1}": value for i, value in enumerate(example.output.tolist())},
        "Each neuron’s activation times its row, added up: output 1 is a₁ times the first number of row 1, and so on.",
        "_hand.output",
    )


def _norm(example: WorkedNorm) -> bool:
    names = [f"dimension {i}" for i in (1, 2, 3, 4)]
    first, second, norm = *example.vectors, example.norm
    columns = {"vector 1": first, "vector 2": second, "γ": norm.gamma, "β": norm.beta}
    st.dataframe(pd.DataFrame({name: vector.numpy() for name, vector in columns.items()}, index=names))
    y = example.output[0].tolist()
    st.markdown("**Vector 1**")
    st.latex(
        r"\begin{aligned} \text{mean} &= \tfrac{3 + 5 + 5 + 11}{4} = 6 \\ "
        r"\text{variance} &= \tfrac{9 + 1 + 1 + 25}{4} = 9, \quad \sqrt 9 = 3 \\ "
        r"(x - 6) \div 3 &= [-1,\ -0.33,\ -0.33,\ 1.67] \\ "
        rf"\times \gamma + \beta &= [{y[0]:z.2f},\ {y[1]:z.2f},\ {y[2]:z.2f},\ {y[3]:z.2f}] \end{{aligned}}"
    )
    st.markdown("**Vector 2**")
    moments = {"Mean": float(second.mean()), "Variance": float(second.var(correction=0))}
    if not blanks(moments, "The variance is the mean of the squared distances from the mean.", "_hand.moments"):
        return False
    return blanks(
        {f"Output {i + 1}": value for i, value in enumerate(example.output[1].tolist())},
        "Take the mean away, divide by the root of the variance, multiply by γ, add β.",
        "_hand.norm",
    )
