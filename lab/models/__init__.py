"""Models: loading, the forward pass, traces and proofs. Nothing here draws on a screen."""
