"""A page with nothing but a list: what Streamlit itself takes on a machine. See benchmarks/bare.py."""

import streamlit as st

st.title("Bare")
st.write("You chose", st.selectbox("number", list(range(1, 13)), key="number"))
