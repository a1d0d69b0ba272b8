"""Copying in causal models, with all heads and without single heads (Olsson et al. 2022)."""
