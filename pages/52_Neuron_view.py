"""Bench: Neuron view."""

from lab.benches.play import play

play("neuron-view")
