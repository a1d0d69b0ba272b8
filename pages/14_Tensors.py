"""Bench: Tensors."""

from lab.benches.tensors.page import play

play()
