"""Which heads a model needs: each taken away, and many together, from minimal pairs."""
