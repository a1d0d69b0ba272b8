"""The table of a model's jobs with the heads that do them best: in lesson 6 and on a model's card."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from lab.evidence.notable import Notable
from lab.ui.tables import SHARE, show_table


def show_head_jobs(found: Sequence[Notable], *, score: str, chance: str) -> None:
    """Draw one row per job: its best head, that head's score, the score by chance, and other heads that do the job.

    ``score`` and ``chance`` name the two columns; a page says above or below the table how both are measured.
    """
    rows = [
        {
            "what it does": each.job.does,
            "best head": each.heads[0].name,
            score: each.heads[0].score,
            chance: each.chance,
            "also": ", ".join(f"{doing.name} ({doing.score:.0%})" for doing in each.heads[1:]),
        }
        for each in found
    ]
    show_table(pd.DataFrame(rows), formats=dict.fromkeys((score, chance), SHARE))
