"""Bench: Compare."""

from lab.benches.compare.page import play

play()
