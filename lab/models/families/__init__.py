"""The architectures the lab reads, one file each: what they call their numbers and tensors, and where they differ."""
