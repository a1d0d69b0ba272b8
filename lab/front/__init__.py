"""The first page: an experiment that has already run, and the map of the way."""
