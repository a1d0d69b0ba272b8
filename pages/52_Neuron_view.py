"""Bench: Neuron view."""

from lab.benches.open_bench import play

play("neuron-view")
