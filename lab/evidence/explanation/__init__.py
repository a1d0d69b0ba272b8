"""Methods that say how important each token is to a prediction, the methods' agreement, and the experiment on it."""
