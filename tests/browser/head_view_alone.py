"""A Streamlit script for the browser tests: the head view without a model.

?n= tokens, &heads= of them, &hostile=1 tokens that attack
"""

import sys
from pathlib import Path

import numpy as np
import streamlit as st

sys.path.insert(0, str(Path(__file__).parents[2]))

from lab.charts.components.head_view import HeadView
from lab.ui.components import mount
from tests.charts.samples import HOSTILE, words

count = int(st.query_params.get("n", "12"))
heads = int(st.query_params.get("heads", "16"))
labels = (HOSTILE * count)[:count] if "hostile" in st.query_params else words(count)
# Half of the heads look at few tokens, half at many.
scores = (
    np.random.default_rng(0).standard_normal((heads, count, count))
    * np.where(np.arange(heads) % 2, 3, 0.5)[:, None, None]
)
exponentials = np.exp(scores)
attention = exponentials / exponentials.sum(-1, keepdims=True)
seed = st.number_input("Layer", value=1, key="layer")
view = HeadView(attention, labels, [i == 0 for i in range(count)], "<b>model</b>", int(seed) - 1)
reported = mount("head_view", view.payload(), "view", states=("view",))["view"]
st.text(f"reported {reported}")
