"""Bench: Flow."""

from lab.benches.flow.page import play

play()
