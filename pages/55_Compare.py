"""Bench: Compare."""

from lab.benches.open_bench import play

play("compare")
