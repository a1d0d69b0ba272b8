"""A Streamlit script for the browser tests: the model view without a model.

?n= tokens, &layers= of &heads=, &hostile=1 tokens that attack, &frames=1 a value for each head
"""

import sys
from pathlib import Path

import numpy as np
import streamlit as st

sys.path.insert(0, str(Path(__file__).parents[2]))

from lab.analysis.heads.thumbnails import Thumbnails
from lab.charts.components.model_view import Frames, ModelView
from lab.ui.components import mount
from tests.charts.samples import HOSTILE, words

asked = st.query_params
n, layers, heads = (int(asked.get(name, default)) for name, default in (("n", 12), ("layers", 4), ("heads", 8)))
block = -(-n // 42)
m = -(-n // block)
labels = (HOSTILE * n)[:n] if "hostile" in asked else words(n)
weights = np.random.default_rng(0).random((layers, heads, m, m)) ** 8
# Values that fall along the heads; the last one has none.
values = 1 - np.arange(layers * heads, dtype=float).reshape(layers, heads) / (layers * heads)
values[-1, -1] = np.nan
frames = Frames("<i>Measure</i>", "share", values) if "frames" in asked else None
view = ModelView(Thumbnails(weights.astype(np.float32), block), labels, "<b>model</b>", frames=frames)
st.text(f"opened {mount('model_view', view.payload(), 'view', states=('opened',))['opened']}")
