"""Experiment: which heads does it need? Heads taken away (Michel et al. 2019) from the model on screen."""

from lab.experiments.open_experiment import play

play("needed-heads")
