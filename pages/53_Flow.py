"""Bench: Flow."""

from lab.benches.play import play

play("flow")
