"""What the shipped models know about text that they never saw, measured from the repository alone."""
