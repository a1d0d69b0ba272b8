"""Bench: Neuron view."""

from lab.benches.neuron_view.page import play

play()
