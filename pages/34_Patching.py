"""Experiment: where is it kept? Activation patching (Meng et al. 2022) in the model on screen."""

from lab.studies.patching.screens import show
from lab.ui.experiments.page import open_experiment

page = open_experiment("34_Patching.py")
trace = show(page)
page.finish()
if trace is not None:
    page.prove(trace)
