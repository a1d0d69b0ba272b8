"""Experiment: do heads know grammar? Table 1 of Clark et al. 2019 on the model on screen."""

from lab.experiments.play import play

play("grammar")
