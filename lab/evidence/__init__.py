"""Claims of papers about heads, measured over many sentences. Nothing here draws on a screen."""
