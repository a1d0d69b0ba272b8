"""The architectures that the lab reads, with a file for each: its names for numbers and tensors, and its differences.

``library.py`` is the boundary to Hugging Face's library, which reads the folders that do not ship with the lab.
"""
