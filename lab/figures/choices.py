"""Choices that some figures offer. Imports nothing heavy: the sidebar offers these words, too."""

# The cells of the logit lens.
BEST_WORD, RANK, ENTROPY = "Best word", "Rank of the true one", "Entropy"
# The lens that reads a hidden state: the vocabulary head after a map fitted for the layer, or the head alone.
FITTED, PLAIN = "Fitted lens", "Plain lens"
# The change by a sublayer: the length of its output relative to its input, or the angle by which the vector turns.
CHANGE_LENGTH, CHANGE_COSINE = "‖Δ‖ / ‖x‖", "cosine"
# The patched part, and the direction: from the clean run into the corrupt one, or back.
RESIDUAL_STREAM, ATTENTION_OUTPUT, FFN_OUTPUT = "Residual stream", "Attention output", "Feed-forward output"
HEADS_WHERE_ASKED, HEADS_WHERE_DIFFERENT = "Heads, at the asked token", "Heads, at the word that differs"
PATCHED = (RESIDUAL_STREAM, ATTENTION_OUTPUT, FFN_OUTPUT, HEADS_WHERE_ASKED, HEADS_WHERE_DIFFERENT)
SUFFICES, NEEDED = "What suffices", "What is needed"
