"""The first page: where a learner starts and comes back to."""

from lab.front import page

page.show()
