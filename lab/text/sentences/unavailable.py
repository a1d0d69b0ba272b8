"""The error raised if a text cannot be cut into sentences."""


class SentencesUnavailable(RuntimeError):
    """Raised if texts cannot be cut into sentences; the message gives the reason and a remedy."""
