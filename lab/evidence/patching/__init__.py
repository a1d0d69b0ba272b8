"""Where a model keeps what decides between two words (Meng et al. 2022)."""
