"""Toy mode: sentences of letters, and models of one or two layers that are small enough to read completely.

Nothing here draws on a screen.
"""
