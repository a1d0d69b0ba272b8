"""What is raised where a text cannot be cut into sentences."""


class SentencesUnavailable(RuntimeError):
    """Texts cannot be cut into sentences; the message says why and what to do."""
