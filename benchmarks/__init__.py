"""Side-by-side measurements, printed as ratios: ``python -m benchmarks``, or ``make bench``."""
