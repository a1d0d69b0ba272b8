"""The parts that several lessons and benches show: one head, hidden words, heads switched off, a word that forms."""
