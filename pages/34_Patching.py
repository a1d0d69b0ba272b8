"""Experiment: where is it kept? Activation patching (Meng et al. 2022) in the model on screen."""

from lab.experiments.open_experiment import play

play("patching")
