"""Experiment: is attention an explanation? Jain & Wallace 2019 and others, on the model on screen."""

from lab.experiments.explanation.screens import method, show
from lab.ui.experiments.page import play

play("explanation", show, method)
