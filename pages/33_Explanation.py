"""Experiment: is attention an explanation? Jain & Wallace 2019 and others, on the model on screen."""

from lab.experiments.play import play

play("explanation")
