"""The room: a class that answers together."""

from lab.front.room.page import show
from lab.lessons.play import for_a_class

show(for_a_class())
