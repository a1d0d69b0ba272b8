"""Questions on the screen: predictions before an answer, checks after it, questions that return."""
