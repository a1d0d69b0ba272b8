"""The end of the course: what a learner can do now, the whole machine with what was found, and three ways on."""

from lab.front.end import show

show()
