"""Experiment: is attention an explanation? Jain & Wallace 2019 and others, on the model on screen."""

from lab.experiments.open_experiment import play

play("explanation")
