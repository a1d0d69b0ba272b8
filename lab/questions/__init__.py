"""Questions made from a trace, what returns of them, and what a learner has answered. No screen in here."""
