"""Bench: Head view."""

from lab.benches.head_view.page import play

play()
