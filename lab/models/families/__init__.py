"""The architectures that the lab reads, one file each: their names for numbers and tensors, and their differences."""
