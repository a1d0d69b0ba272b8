"""What some figures can be asked to show. Imports nothing heavy: the sidebar offers these words too."""

# The cells of the logit lens.
BEST_WORD, RANK, ENTROPY = "Best word", "Rank of the true one", "Entropy"
# What reads a hidden state: the vocabulary head after a map that was fitted for the layer, or the head alone.
FITTED, PLAIN = "Fitted lens", "Plain lens"
# What a sublayer changes: how long what it adds is beside what was there, or how far it turns the vector.
CHANGE_LENGTH, CHANGE_COSINE = "‖Δ‖ / ‖x‖", "cosine"
# What is patched, and which way: from the clean run into the corrupt one, or back.
RESIDUAL_STREAM, ATTENTION_OUTPUT, FFN_OUTPUT = "Residual stream", "Attention output", "Feed-forward output"
HEADS_WHERE_ASKED, HEADS_WHERE_DIFFERENT = "Heads, at the asked token", "Heads, at the word that differs"
PATCHED = (RESIDUAL_STREAM, ATTENTION_OUTPUT, FFN_OUTPUT, HEADS_WHERE_ASKED, HEADS_WHERE_DIFFERENT)
SUFFICES, NEEDED = "What suffices", "What is needed"
