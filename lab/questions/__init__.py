"""Questions made from a trace, questions that return in later lessons, and a learner's answers. No screen in here."""
