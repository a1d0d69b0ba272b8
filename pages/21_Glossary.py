"""Reference: the glossary."""

from lab.reference.glossary_list import play

play()
