"""What a model is: loading, the forward pass, traces and proofs. No screen in here."""
