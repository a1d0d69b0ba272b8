"""Functions from arrays to arrays, computed from a trace. Nothing here draws on a screen."""
