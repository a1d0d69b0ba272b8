"""Models: loading, the forward pass, traces and proofs. No module of this package draws on the screen."""
