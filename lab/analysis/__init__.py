"""Functions from arrays to arrays, computed from a trace. No module of this package draws on the screen."""
