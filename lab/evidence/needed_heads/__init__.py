"""Find the heads that a model needs, by ablating single heads and many together on minimal pairs."""
