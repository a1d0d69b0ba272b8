"""Toy mode: sentences of letters and models of one or two layers, small enough to read every number. No screen in "
"here."""
