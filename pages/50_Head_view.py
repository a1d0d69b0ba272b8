"""Bench: Head view."""

from lab.benches.play import play

play("head-view")
