"""Bench: Model view."""

from lab.benches.open_bench import play

play("model-view")
