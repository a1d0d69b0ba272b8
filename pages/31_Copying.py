"""Experiment: how does copying work? Induction heads (Olsson et al. 2022) in the model on screen."""

from lab.studies.copying.screens import show
from lab.ui.experiments.page import open_experiment

page = open_experiment("31_Copying.py")
trace = show(page)
page.finish()
if trace is not None:
    page.prove(trace)
