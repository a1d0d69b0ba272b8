"""The pages of the experiments: published claims, tested on the model on screen. :mod:`lab.evidence` measures them."""
