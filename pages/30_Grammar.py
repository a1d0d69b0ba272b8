"""Experiment: do heads know grammar? Table 1 of Clark et al. 2019 on the model on screen."""

from lab.studies.grammar.screens import show
from lab.ui.experiments.page import open_experiment

page = open_experiment("30_Grammar.py")
trace = show(page)
page.finish()
if trace is not None:
    page.prove(trace)
