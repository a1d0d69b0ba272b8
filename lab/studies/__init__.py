"""The pages of the experiments: a folder each, its words around a result of :mod:`lab.experiments`."""
