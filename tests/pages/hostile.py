"""What anybody may send: strategies for texts, for a link's parameters, and for files that claim to be progress."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from lab.course.pages import LESSONS
from lab.questions.progress import LAB, VERSION
from lab.ui.parameter_kinds import Choice, Fraction, Whole
from lab.ui.parameters import PARAMETERS

# Each has broken some program once: what combines, joins, reverses, ends a string, ends a tag, means markup.
STRANGE = (
    "\x00", "\x1b[31m", "\x7f", "\x85", "\u200b", "\u200d", "\u202e", "\u2066", "\u2028", "\ufeff", "\ufffd", "\ufffe",
    "e\u0301\u0323\u0308", "\u0301", "가", "ﷺ", "ﬀ", "İ", "ß", "Ǆ", "１２", "①", "𝔹", "\U000e0041", "\U0010ffff",
    "👩‍👩‍👧", "🏳️‍🌈", "🇩🇪", "👍🏽", "مرحبا", "नमस्ते", "漢字", "ไทย", "\u1100\u1161\u11a8", "\ue000", "\xad", "\u0378",
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</textarea>", "&lt;", "javascript:alert(1)",
    "$x$", "$$", ":red[a]", ":material/home:", "[a](b)", "`", "```", "~~", "**", "| a |", "\\", "# ", "---", "{0}",
    "[MASK]", "[CLS]", "[SEP]", "[PAD]", "[UNK]", "##ing", "<|endoftext|>", "Ġ", "Ċ", "=1+1", "\r\n", "\t", "'", '"',
    "Dr. U.S. e.g.", "...", "a" * 300, "1e999", "-0", "NaN", "None", "../../etc/passwd", "%s%n", "%00", "'; --",
)  # fmt: skip

_words = st.one_of(
    st.sampled_from(STRANGE), st.text(max_size=12), st.sampled_from(["The", "cat", "sat", "it", ".", "Anna", "Berlin"])
)
texts = st.one_of(
    st.lists(_words, max_size=24).map(" ".join),
    st.lists(_words, max_size=12).map("".join),
    st.builds(lambda word, times: word * times, _words, st.integers(1, 400)),
)

_numbers = st.one_of(
    st.integers(-3, 40),
    st.integers(-(10**12), 10**12),
    st.floats(),
    st.sampled_from(["", "٣", "０", "1_0", " 1", "1e3"]),
)
_choices = [each for each in PARAMETERS if isinstance(each, Choice)]
_named = st.sampled_from(sorted({str(option) for each in _choices for option in each.options}))
_lists = st.lists(st.integers(-1, 600), max_size=5).map(lambda places: ".".join(map(str, places)))
_parts = st.from_regex(r"\A([0-9]{1,3}\*?|[0-9](-[0-9]{1,2})?\.[0-9]{1,2}\.[0-9]{1,2}|[*.,-]{1,3})\Z")
_cuts = st.lists(_parts, max_size=6).map(",".join)
_spans = st.builds(lambda start, end: f"{start}:{end}", _numbers, _numbers)
_tensors = st.sampled_from(["layer.attention", "layer.ffn_pre", "embeddings", "logits", "layer", "../x"])


_BY_NAME = {each.name: each for each in PARAMETERS}


def _value(name: str) -> st.SearchStrategy[str]:
    """Something for a parameter: what it may be, what another may be, or anything at all."""
    parameter = _BY_NAME[name]
    own: st.SearchStrategy[Any]
    if isinstance(parameter, Choice):
        own = st.sampled_from(parameter.options)
    elif isinstance(parameter, Whole) and parameter.most < 10_000:
        own = st.integers(parameter.least, parameter.most)
    elif isinstance(parameter, Fraction):
        own = st.floats(parameter.least, parameter.most)
    elif isinstance(parameter.default, int):
        own = st.integers(1, 16)
    else:
        own = st.one_of(st.just(parameter.default), texts)
    return st.one_of(own, own, _numbers, _named, _lists, _cuts, _spans, _tensors, texts).map(str)


_KNOWN = tuple(name for name in _BY_NAME if name not in ("model", "step"))
# A parameter no widget has, one of Streamlit's own, one with markup for a name.
_UNKNOWN = ("utm_source", "embed", "<b>", "_started", "", "a.b")


@st.composite
def links(draw: st.DrawFn, steps: Sequence[str] = ()) -> dict[str, str]:
    """Parameters of a link: up to eight of the lab's, now and then a model that is not there or a name nobody knows."""
    names = draw(st.lists(st.sampled_from(_KNOWN), max_size=8, unique=True))
    found = {name: draw(_value(name)) for name in names}
    if draw(st.integers(0, 4)):
        found["step"] = draw(st.sampled_from(steps) if steps else texts)
    if draw(st.integers(0, 3)) == 0:
        found["model"] = draw(st.one_of(st.sampled_from(["lab-bert", "lab-gpt2", "../secret", "a/b", ""]), texts))
    if draw(st.integers(0, 5)) == 0:
        found[draw(st.sampled_from(_UNKNOWN))] = draw(texts)
    return found


_lone = st.sampled_from(["\ud800", "a\udfffb", "\udc80"])
_leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=20), _lone, texts
)
_json = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10) | _lone, inner, max_size=4),
    max_leaves=12,
)
_answer = st.fixed_dictionaries(
    {
        **dict.fromkeys(("question", "chosen", "why_chosen", "right", "why_right"), texts | _lone),
        "correct": st.booleans(),
    },
    optional={
        "link": st.none() | links() | st.dictionaries(st.sampled_from(_KNOWN), _lone, max_size=2),
        "extra": _json,
    },
)
_steps = st.sampled_from([step.id for lesson in LESSONS for step in lesson.steps])
_lesson = st.fixed_dictionaries(
    {},
    optional={
        "done": st.lists(texts | _lone | _steps, max_size=3) | _json,
        "checks": st.dictionaries(texts, st.none() | _answer | _json, max_size=3) | _json,
    },
)
_progress = st.fixed_dictionaries(
    {
        "lab": st.just(LAB),
        "version": st.just(VERSION),
        "lessons": st.dictionaries(st.sampled_from([lesson.id for lesson in LESSONS]) | texts, _lesson, max_size=3),
    },
    optional={"more": _json},
)
files = st.one_of(
    st.binary(max_size=200),
    _json.map(lambda content: json.dumps(content).encode()),
    _progress.map(lambda content: json.dumps(content).encode()),
    _progress.map(lambda content: json.dumps(content).encode()[:-7]),
    st.integers(1, 5000).map(lambda depth: b"[" * depth),
)
