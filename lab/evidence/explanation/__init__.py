"""Methods that say how important each token is to a prediction, their agreement, and the experiment about them."""
