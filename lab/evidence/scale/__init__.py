"""Experiments on treebanks and models that outgrow one machine: ``python -m lab.evidence``. No page imports it."""
