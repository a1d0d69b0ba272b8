"""The place in a run that a question is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.analysis.heads.first_look import heaviest_key
from lab.analysis.heads.one_row import AttentionRow, attention_row
from lab.course.sentences.looks import STORY_HEAD, is_story, is_story_blank, look

if TYPE_CHECKING:
    from lab.models.layer_trace import LayerTrace
    from lab.models.trace import Trace


@dataclass(frozen=True)
class Spot:
    """A run, and the place in the run that questions are about: layer, head, query and key, all from 0."""

    trace: Trace
    layer: int
    head: int
    query: int
    key: int

    @classmethod
    def of(cls, trace: Trace) -> Spot:
        """The spot of the row at which the lab looks first."""
        found = look(trace)
        layer, head, query = found.layer, found.head, found.query
        return cls(trace, layer, head, query, heaviest_key(trace, layer, head, query))

    @property
    def in_story_head(self) -> bool:
        """Whether this is the head of the course's story, in its sentence."""
        return is_story(self.trace) and (self.layer, self.head) == STORY_HEAD

    @property
    def in_story_row(self) -> bool:
        """Whether the course is written about this row: from the blank, in the head of its story."""
        return self.in_story_head and is_story_blank(self.trace, self.query)

    @property
    def traced(self) -> LayerTrace:
        return self.trace.layer(self.layer)

    @property
    def row(self) -> AttentionRow:
        """The row of the query, from its vectors to its context."""
        return attention_row(self.traced, self.head, self.query)
