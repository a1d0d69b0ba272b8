"""Bench: Head view."""

from lab.benches.open_bench import play

play("head-view")
