"""The screen: the only package that imports streamlit (besides pages/)."""
