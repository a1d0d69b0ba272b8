"""Toy mode: number-sentences and one-layer models small enough to read every number. No screen in here."""
