"""Heads that find relations of grammar (Clark et al. 2019, §4.2)."""
