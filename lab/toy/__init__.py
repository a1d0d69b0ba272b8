"""Toy mode: number-sentences and models of one or two layers, small enough to read every number. No screen in here."""
