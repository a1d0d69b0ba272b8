"""``python -m lab.evidence grammar``: the experiment on grammar, on any treebank and model.

A command stands above all floors; so its module is found by its name.
"""

import sys
from importlib import import_module

main = import_module("lab.experiments.grammar.any_treebank").main

if __name__ == "__main__":
    sys.exit(main())
