"""Copying in causal models, with all heads and without single ones (Olsson et al. 2022)."""
