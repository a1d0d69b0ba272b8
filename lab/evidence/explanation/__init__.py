"""How important each token is to a prediction: methods, how alike they are, and the experiment about them."""
