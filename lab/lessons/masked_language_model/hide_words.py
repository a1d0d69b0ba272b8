"""Hide words: the model gives every word of its vocabulary a probability for a blank, and how it learned that."""

from __future__ import annotations

from lab.lessons.masked_language_model.view import show_best, tells_story
from lab.models.trace import Trace
from lab.ui.parameters import TEXT
from lab.ui.screen import say, try_this
from lab.ui.shared.prediction import PredictionView

_TASK = (
    "Hide a word behind [MASK]. The model gives every word of its vocabulary a **probability**, and all probabilities "
    "add up to 1."
)
_HOW = """
**What was BERT asked in training?** For 15 % of the tokens, which token it is. If *France* was chosen,

| | the model read |
|:--|:--|
| 8 times of 10 | The capital of [MASK] is Paris. |
| once | The capital of *song* is Paris. |
| once | The capital of *France* is Paris. |
"""
# What the model says for a word that it can see: a test computes the number again.
_WHY = (
    "Most are hidden, because a word in sight can be copied: where lab-minilm reads *Paris*, it says *paris* with "
    "{seen:.2f}. Some become a random word, such as *song*, or stay, because people later use the model on texts "
    "without any [MASK]: it has to learn something about the words in sight, too (Devlin et al. 2019, §3.1 and A.1)."
)
SEEN = 0.98
_TURNED = "Paris is the capital of [MASK]."


def show(view: PredictionView) -> Trace:
    """Show the most probable words for a blank, and the task by which BERT learned to find them."""
    say(_TASK)
    show_best(view, view.prediction, f"In your text, token {view.place + 1} is")
    say(_HOW)
    say(_WHY.format(seen=SEEN))
    if tells_story(view):
        try_this("turn the sentence around, and hide the country.", "Paris is the capital of ▢", {TEXT: _TURNED})
    return view.trace
