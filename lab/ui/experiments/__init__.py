"""The parts that the pages of experiments share: the frame, the prediction, the run in the background."""
