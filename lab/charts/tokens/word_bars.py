"""Words with their probabilities as bars of HTML, large enough for a first look; for ``st.html``."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

from lab.charts.base.colour import CHOSEN
from lab.charts.base.labels import visible

_STYLE = f"""<style>
.word-bars {{ list-style: none; margin: 0 !important; padding: 0 !important; font-size: 1.1rem; }}
.word-bars li {{ display: grid; grid-template-columns: minmax(5.5rem, max-content) 1fr 3.5rem; gap: .75rem;
  align-items: center; margin: .3rem 0 !important; }}
.word-bars .word {{ overflow-wrap: anywhere; }}
.word-bars .bar {{ display: block; min-width: 2px; height: 1.1em; border-radius: .2rem;
  background: light-dark(#9db8dc, #45638f); transition: width .4s; }}
.word-bars .chosen {{ font-weight: 650; }}
.word-bars .chosen .bar {{ background: {CHOSEN}; }}
.word-bars .number {{ font-variant-numeric: tabular-nums; text-align: end; }}
.word-bars small {{ grid-column: 1 / -1; }}
.word-bars.small {{ font-size: .85rem; min-height: 6rem; align-content: center; }}
</style>"""


@dataclass(frozen=True)
class WordBar:
    """One word: its probability, from 0 to 1, what to say of it, and whether it is the learner's."""

    word: str
    probability: float
    note: str = ""
    chosen: bool = False


def word_bars(words: Sequence[WordBar], small: bool = False) -> str:
    """HTML: a list, each word with a bar as long as its probability; ``small`` beside others. All text is escaped.

    Raises ValueError for a probability outside [0, 1].
    """
    for each in words:
        if not 0 <= each.probability <= 1:
            raise ValueError(f"word_bars: the probability of {each.word!r} is {each.probability}.")
    kind = "word-bars small" if small else "word-bars"
    return f'{_STYLE}<ol class="{kind}">{"".join(map(_bar, words))}</ol>'


def _bar(each: WordBar) -> str:
    marked = ' class="chosen"' if each.chosen else ""
    note = f"<small>{html.escape(each.note)}</small>" if each.note else ""
    return (
        f'<li{marked}><span class="word">{html.escape(visible(each.word))}</span>'
        f'<span><span class="bar" style="width: {100 * each.probability:.1f}%"></span></span>'
        f'<span class="number">{each.probability:.2f}</span>{note}</li>'
    )
