"""What the experiments share: data, intervals, verdicts, and how a result is kept. Nothing here knows a screen."""
