"""Experiment: do heads know grammar? Table 1 of Clark et al. 2019 on the model on screen."""

from lab.experiments.grammar.screens import method, show
from lab.ui.experiments.page import play

play("grammar", show, method)
