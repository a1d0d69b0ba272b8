"""Bench: Compare."""

from lab.benches.play import play

play("compare")
