"""Experiment: where is it kept? Activation patching (Meng et al. 2022) in the model on screen."""

from lab.experiments.patching.screens import method, show
from lab.ui.experiments.page import play

play("patching", show, method)
