"""Experiment: how does copying work? Induction heads (Olsson et al. 2022) in the model on screen."""

from lab.experiments.copying.screens import method, show
from lab.ui.experiments.page import play

play("copying", show, method)
