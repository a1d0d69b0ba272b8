"""A Streamlit app for the browser tests: figures without a model, each on a page of its own."""

import streamlit as st

FIGURES = ("gallery.py", "head_view_alone.py", "model_view_alone.py")

st.navigation([st.Page(each, default=each == FIGURES[0]) for each in FIGURES], position="hidden").run()
