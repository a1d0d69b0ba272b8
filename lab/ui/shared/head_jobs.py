"""The table of a model's jobs with the heads that do them best, on a model's card."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from lab.evidence.kind_rules import shipped
from lab.evidence.notable import Notable
from lab.ui.tables import SHARE, show_table


def show_head_jobs(found: Sequence[Notable]) -> None:
    """Draw one row per job: its best head, that head's score, a simple rule's, and other heads that do the job."""
    rules = shipped()
    rows = [
        {
            "what it does": each.job.does,
            "best head": each.heads[0].name,
            "score": each.heads[0].score,
            "rule": max(each.chance or 0.0, rules[each.job.id].share) if each.job.grammatical else each.chance,
            "also": ", ".join(f"{doing.name} ({doing.score:.0%})" for doing in each.heads[1:]),
        }
        for each in found
    ]
    show_table(pd.DataFrame(rows), formats=dict.fromkeys(("score", "rule"), SHARE))
