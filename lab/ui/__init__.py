"""The parts that draw on the screen; besides pages/, no other package imports streamlit."""
