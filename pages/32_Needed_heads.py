"""Experiment: which heads does it need? Heads taken away (Michel et al. 2019) from the model on screen."""

from lab.experiments.needed_heads.screens import method, show
from lab.ui.experiments.page import play

play("needed-heads", show, method)
