"""The room: a class that answers together."""

from lab.classroom.page import show
from lab.lessons.play import written

show(written)
