"""The architectures that the lab reads, with a file for each: its names for numbers and tensors, and its
differences."""
