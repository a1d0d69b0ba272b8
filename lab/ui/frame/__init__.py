"""The frame around the figure of a step: the header, the strip, the badge of the proof, the meaning at the end."""
