"""The sentences of the course: examples, blanks, words of two meanings, and where to look in them first."""
