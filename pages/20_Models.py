"""Reference: the models."""

from lab.reference.models.page import play

play()
