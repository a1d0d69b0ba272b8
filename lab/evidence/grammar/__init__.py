"""Which head finds which relation of grammar (Clark et al. 2019, §4.2)."""
