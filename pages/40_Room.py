"""The room: a class that answers together."""

from lab.classroom.page import show
from lab.lessons.play import for_a_class

show(for_a_class())
