"""Toy mode: sentences of letters, and models of one or two layers that are small enough to read completely.

No module of this package draws on the screen.
"""
