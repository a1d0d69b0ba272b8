"""Reference: the glossary."""

from lab.reference.glossary import play

play()
