"""Experiment: how does copying work? Induction heads (Olsson et al. 2022) in the model on screen."""

from lab.experiments.open_experiment import play

play("copying")
