"""Experiment: which heads does it need? Heads taken away (Michel et al. 2019) from the model on screen."""

from lab.studies.needed_heads.screens import show
from lab.ui.experiments.page import open_experiment

page = open_experiment("32_Needed_heads.py")
trace = show(page)
page.finish()
if trace is not None:
    page.prove(trace)
