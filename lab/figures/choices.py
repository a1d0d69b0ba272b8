"""Choices that some figures offer. The module imports nothing heavy, because the sidebar offers these words, too."""

# The lens that reads a hidden state: the vocabulary head after a map that was fitted for the layer, or the head alone.
FITTED, PLAIN = "Fitted lens", "Plain lens"
# The measure of a sublayer's change: its output's length relative to its input's.
CHANGE_LENGTH = "‖Δ‖ / ‖x‖"
# The parts that can be patched, and the directions: from the clean run into the corrupt run, or back.
RESIDUAL_STREAM, ATTENTION_OUTPUT, FFN_OUTPUT = "Residual stream", "Attention output", "Feed-forward output"
HEADS_WHERE_ASKED, HEADS_WHERE_DIFFERENT = "Heads, at the token in question", "Heads, at the word that differs"
PATCHED = (RESIDUAL_STREAM, ATTENTION_OUTPUT, FFN_OUTPUT, HEADS_WHERE_ASKED, HEADS_WHERE_DIFFERENT)
SUFFICES, NEEDED = "What suffices", "What is needed"
