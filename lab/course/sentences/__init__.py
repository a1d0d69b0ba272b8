"""The sentences of the course: examples, blanks, words with two meanings, and the row of each to look at first."""
