"""Claims of papers about heads, measured over many sentences. No module of this package draws on the screen."""
