"""What papers say about heads, measured over many sentences. No screen in here."""
