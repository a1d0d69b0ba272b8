"""Published claims, measured over many sentences: for each experiment a folder, with what it measures and its page."""
