"""Find where a model keeps the information that decides between two words (Meng et al. 2022)."""
