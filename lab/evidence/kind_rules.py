"""The best rule by kinds of words for each job of grammar, beside the heads that do the job.

The rules ship as ``data/kind_rules.json``, written by ``python -m training.evaluation.kind_rules``: a rule is chosen on
half A of UD English EWT dev and measured on half B, with the lab's tagger. They are about sentences, not about a model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from lab.evidence.notable import JOBS, HeadJob
from lab.evidence.relation_cases import Cases
from lab.evidence.treebank import Sentence, halves
from lab.evidence.word_kinds import LEFT, KindRule, best_rule, tags_of
from lab.text.tags.pipeline import spelled_out

FILE = Path(__file__).parent / "data" / "kind_rules.json"


@dataclass(frozen=True)
class MeasuredRule:
    """A rule by kinds of words, the share of cases in which it names the right word, and the number of cases."""

    rule: KindRule
    share: float
    count: int


def cases_of(sentences: Sequence[Sentence], relation: str) -> Cases:
    """Return all cases of a relation, read from the treebank alone; no head names a word."""
    found = [
        (number, word, head - 1)
        for number, each in enumerate(sentences)
        for word, (head, its) in enumerate(zip(each.heads, each.relations, strict=True))
        if head and its == relation
    ]
    sentence, dependent, head = np.array(found).T
    return Cases(False, (relation,) * len(found), sentence, dependent, head, np.zeros((len(found), 1, 1, 2), np.int16))


def start_of(job: HeadJob) -> int:
    """The end at which a rule for this job starts: 0, the dependent, to find its head; 1, the head."""
    return 0 if job.id.endswith(":head") else 1


def measured() -> dict[str, MeasuredRule]:
    """Choose the rule for each job of grammar on half A, and measure it on half B; by the job's id.

    Raises PipelineUnavailable if the tagger is damaged.
    """
    a, b = halves()
    tags_a, tags_b = (tags_of(half.sentences).tagger for half in (a, b))
    found = {}
    for job in JOBS:
        if job.grammatical:
            relation = job.id.split(":")[0]
            rule = best_rule(cases_of(a.sentences, relation), tags_a, (start_of(job),))
            right = rule.right(cases_of(b.sentences, relation), tags_b)
            found[job.id] = MeasuredRule(rule, float(right.mean()), len(right))
    return found


def as_record(found: Mapping[str, MeasuredRule]) -> dict[str, Any]:
    """Return the rules for JSON, with shares rounded to three decimals."""
    return {
        id: {
            "side": each.rule.side,
            "kinds": list(each.rule.kinds),
            "last": each.rule.last,
            "share": round(each.share, 3),
            "count": each.count,
        }
        for id, each in found.items()
    }


@cache
def shipped() -> Mapping[str, MeasuredRule]:
    """Return the rules that ship, by the id of the job."""
    record = json.loads(FILE.read_text("utf-8"))["rules"]
    ends = {job.id: start_of(job) for job in JOBS}
    return {
        id: MeasuredRule(
            KindRule(ends[id], each["side"], tuple(each["kinds"]), each["last"]), each["share"], each["count"]
        )
        for id, each in record.items()
    }


def in_words(rule: KindRule) -> str:
    """Write a rule: "the nearest noun or pronoun to the left", or "…, of several in a row the last"."""
    last = ", of several in a row the last" if rule.last else ""
    return f"the nearest {kinds_in_words(rule)} to the {'left' if rule.side == LEFT else 'right'}{last}"


def kinds_in_words(rule: KindRule) -> str:
    """Name the kinds of words at which a rule stops: "noun or pronoun". A name of somebody is a noun here."""
    *most, last = [spelled_out(kind) for kind in rule.kinds if kind != "PROPN" or "NOUN" not in rule.kinds]
    return f"{', '.join(most)} or {last}" if most else last
