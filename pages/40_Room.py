"""The room: a class that answers together."""

from lab.classroom.page import show
from lab.lessons.open_lesson import written

show(written)
