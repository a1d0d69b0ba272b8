"""Bench: Model view."""

from lab.benches.model_view.page import play

play()
