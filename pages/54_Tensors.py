"""Bench: Tensors."""

from lab.benches.open_bench import play

play("tensors")
