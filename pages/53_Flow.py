"""Bench: Flow."""

from lab.benches.open_bench import play

play("flow")
