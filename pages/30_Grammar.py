"""Experiment: do heads know grammar? Table 1 of Clark et al. 2019 on the model on screen."""

from lab.experiments.open_experiment import play

play("grammar")
