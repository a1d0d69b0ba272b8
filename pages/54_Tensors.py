"""Bench: Tensors."""

from lab.benches.play import play

play("tensors")
