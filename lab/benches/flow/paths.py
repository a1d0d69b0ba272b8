"""Which paths are followed: past the heads or not, through all tokens or through words only."""

from __future__ import annotations

from lab.ui import parameters
from lab.ui.parameters import WITH_RESIDUAL, WORDS_ONLY


def choose_residual() -> bool:
    """Draw the switch that counts the residual connection as a path."""
    help_ = "With residual, the matrix is ½A + ½I: half of each token goes past the heads unchanged, as in rollout."
    return parameters.FLOW_RESIDUAL.choose("Paths", help=help_) == WITH_RESIDUAL


def choose_words() -> bool:
    """Draw the switch that leaves special tokens out of the figure; the weights do not change."""
    chosen = parameters.FLOW_TOKENS.choose(
        "Tokens",
        help=(
            "“Words only” leaves out [CLS] and [SEP], or the first token if a model has neither. The weights do "
            "not change."
        ),
    )
    return chosen == WORDS_ONLY
