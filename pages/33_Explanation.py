"""Experiment: is attention an explanation? Jain & Wallace 2019 and others, on the model on screen."""

from lab.studies.explanation.screens import show
from lab.ui.experiments.page import open_experiment

page = open_experiment("33_Explanation.py")
trace = show(page)
page.finish()
if trace is not None:
    page.prove(trace)
