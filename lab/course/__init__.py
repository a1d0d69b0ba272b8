"""What is taught: lessons, questions made from a trace, progress. No screen in here."""
