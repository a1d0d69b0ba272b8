"""Bench: Model view."""

from lab.benches.play import play

play("model-view")
