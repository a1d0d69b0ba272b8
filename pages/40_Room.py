"""The room: a class that answers together."""

from itertools import chain
from types import ModuleType

from lab.course.returning import Returning
from lab.front.room import page
from lab.lessons.attention_metrics import again as metrics
from lab.lessons.embeddings import again as embeddings
from lab.lessons.feed_forward import again as feed_forward
from lab.lessons.head_specialization import again as specialization
from lab.lessons.inter_sentence_attention import again as sentences
from lab.lessons.masked_language_model import again as masked
from lab.lessons.multi_head_attention import again as multi_head
from lab.lessons.self_attention import again as self_attention
from lab.lessons.tokenization import again as tokenization

AGAIN = (
    tokenization, embeddings, self_attention, multi_head, metrics, specialization, sentences, feed_forward, masked,
)  # fmt: skip
# Questions whose figure is gone when a lesson asks again: only a class is asked them of another sentence.
TO_PICK = {each: each.to_pick for each in (feed_forward, metrics, self_attention, specialization)}


def again(lesson: ModuleType) -> Returning:
    """All that can be asked again of a lesson."""
    to_pick = TO_PICK.get(lesson)
    return lambda spot: chain(lesson.questions(spot), () if to_pick is None else to_pick(spot))


page.show({each.__name__.split(".")[2].replace("_", "-"): again(each) for each in AGAIN})
