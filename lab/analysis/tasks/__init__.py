"""A task of one's own: sentences with two labels, and a small classifier that reads a model's vectors.

The model stays as it is, but for :mod:`lab.analysis.tasks.tuning`, which trains its last layer.
"""
