"""What some figures can be asked to show. Imports nothing heavy: the sidebar offers these words too."""

# The cells of the logit lens.
BEST_WORD, RANK, ENTROPY = "Best word", "Rank of the true one", "Entropy"
# What a sublayer changes: how long what it adds is beside what was there, or how far it turns the vector.
CHANGE_LENGTH, CHANGE_COSINE = "‖Δ‖ / ‖x‖", "cosine"
