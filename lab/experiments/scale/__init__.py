"""Experiments on treebanks and models that outgrow one machine: ``python -m lab.experiments``. No page imports it."""
