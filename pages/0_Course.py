"""The first page: where a learner starts and comes back to."""

from lab.front.page import show

show()
