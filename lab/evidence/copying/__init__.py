"""How a model copies, and what becomes of it without single heads (Olsson et al. 2022)."""
