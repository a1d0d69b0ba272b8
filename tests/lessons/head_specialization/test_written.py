"""What the lesson on head specialization says of its figures, held to the tensors and to Hugging Face."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from transformers import AutoModelForMaskedLM, AutoTokenizer

import lab
from lab.analysis.heads.named import ORDERS, followed, with_places
from lab.analysis.heads.specialization import SPECIALIZATIONS, specialization
from lab.analysis.heads.swapping import Asked
from lab.course.sentences.examples import ATTRACTIONS
from lab.course.sentences.looks import STORY_TEXT
from lab.evidence.kind_rules import shipped as rules
from lab.evidence.notable import FILE, JOBS, Doing, Notable, shipped
from lab.evidence.own_sentence import Case, cases
from lab.figures.specialization_figures import names_of
from lab.lessons.head_specialization import check, does_it_matter, grammar, named_patterns, radar
from lab.models.catalogue import EMBEDDED
from lab.models.trace import Trace
from lab.text.bundled import bundled_sentences
from lab.text.tags.pipeline import pipeline
from tests.conftest import TinyCheckpoint
from tests.sentences import STORY
from tests.thorough import at_night

MODELS = ("lab-minilm", "lab-bert", "lab-gpt2")
TEXTS = (STORY, "The sleepy cat sat on the mat.")
ENTITIES = [each.id for each in SPECIALIZATIONS].index("entities")


@pytest.fixture(scope="module", params=[(model, text) for model in MODELS for text in TEXTS])
def trace(request: pytest.FixtureRequest) -> Trace:
    model, text = request.param
    return lab.trace(lab.load_model(model), text)


@pytest.fixture(scope="module")
def course() -> Trace:
    return lab.trace(lab.load_model("lab-minilm"), STORY_TEXT)


@cache
def by_hugging_face() -> tuple[Any, Any]:
    folder = EMBEDDED / "lab-minilm"
    model: Any = AutoModelForMaskedLM.from_pretrained(folder, attn_implementation="eager").eval()
    return AutoTokenizer.from_pretrained(folder), model


def maps_of(text: str, places: list[int] | None = None) -> tuple[list[str], NDArray[np.float64]]:
    """Tokens and maps, (L, H, n, n), by Hugging Face, with the tokens at other ``places``."""
    tokenizer, model = by_hugging_face()
    ids = tokenizer(text, return_tensors="pt")
    more = {} if places is None else {"position_ids": torch.tensor([places])}
    with torch.inference_mode():
        found = model(**ids, **more, output_attentions=True).attentions
    return tokenizer.convert_ids_to_tokens(ids.input_ids[0]), torch.cat(found).double().numpy()


def test_the_axis_nearest_to_the_rim_is_named() -> None:
    axes, relative, raw = ["a", "b", "c"], [0.93, 0.2, 0.1], [0.357, 0.141, 0.3]
    said = radar.reading((0, 0), [relative, raw, [0.93, 1.83, 1.0]], axes)
    assert "ayer 1, head 1 comes nearest to the rim on the axis **a**" in said and "0.9 times" in said
    assert radar.reading((0, 0), [[0.5, 0.5], [1, 1], [1, 1]], ["a", "b"]) == ""


def test_what_is_written_of_the_radar(course: Trace) -> None:
    """France is the only name: its share of what words give to words, by Hugging Face."""
    tokens, maps = maps_of(STORY_TEXT)
    inside = maps[5][:, 1:-1, 1:-1] / maps[5][:, 1:-1, 1:-1].sum(-1, keepdims=True)
    share = inside[:, :, tokens.index("france") - 1].mean(-1)
    found = specialization(course, only_words=True)
    assert found.raw[5, :, ENTITIES] == pytest.approx(share, abs=1e-4)
    assert share.argmax() == 5 and share.max() == pytest.approx(0.63, abs=0.005)
    assert found.corrected[5, 3, ENTITIES] == pytest.approx(7 * share[3], abs=1e-3)  # 7 tokens, one of them a name


@at_night
def test_what_is_written_of_many_texts() -> None:
    model, names, function = lab.load_model("lab-minilm"), [], []
    for text in bundled_sentences():
        found = specialization(lab.trace(model, text), only_words=True)
        function.append(found.corrected[5, 3, 0])
        names.append(found.corrected[..., ENTITIES])
    means = np.nanmean(names, axis=0)
    told = radar.SURVEYED
    assert len(names) == told["texts"] and np.isfinite([each[5, 3] for each in names]).sum() == told["count"]
    assert SPECIALIZATIONS[0].id == "function_words"
    assert (means[5, 3], np.nanmean(function)) == pytest.approx((told["names"], told["function"]), abs=0.006)
    layer, head = divmod(int(means.argmax()), 12)
    assert f"{layer + 1}-{head + 1}" == told["first"] and means.max() == pytest.approx(told["most"], abs=0.006)


@pytest.mark.parametrize("only_words", [False, True])
def test_named_heads_are_counted(trace: Trace, only_words: bool) -> None:
    names = names_of(trace, only_words)
    counts = Counter(names.ravel().tolist())
    counts.pop("mixed", None)
    said = named_patterns.counted(names)
    if not counts:
        assert said == named_patterns.NONE
        return
    assert said.startswith(f"**{counts.total()}** of {names.size} heads")
    for name, count in counts.items():
        assert f"{count} {named_patterns.DOES[name][count == 1]}" in said


def test_heads_for_a_neighbour_follow_its_place_by_hugging_face(course: Trace) -> None:
    found = named_patterns.neighbours(course, only_words=True)
    heads = found["previous_token"]
    n, weights = len(course), dict[str, list[float]](before=[], text=[], place=[])
    _, plain = maps_of(STORY_TEXT)
    for seed in ORDERS:
        order = np.random.default_rng(seed).permutation(n).tolist()
        _, maps = maps_of(STORY_TEXT, order)
        for head in heads:
            weights["before"] += [plain[head][at, at - 1] for at in range(1, n)]
            weights["text"] += [maps[head][at, at - 1] for at in range(1, n)]
            weights["place"] += [maps[head][order.index(at), order.index(at - 1)] for at in range(1, n)]
    told = named_patterns.reading(course, only_words=True)
    shown = [float(each) for each in re.findall(r"\d\.\d\d", told)]
    assert shown == pytest.approx([np.mean(each) for each in weights.values()], abs=0.006)
    assert shown[2] > 3 * shown[1] and shown[1] < 2 / n  # “by its place, not by its word”
    assert course.labels.index("▢") and names_of(course, only_words=True)[5, 3] == "mixed"


def test_places_in_their_order_change_nothing(course: Trace, tiny_checkpoint: TinyCheckpoint) -> None:
    same = with_places(course, range(len(course)))
    assert torch.equal(same.hidden_states, course.hidden_states)
    gpt2 = lab.trace(lab.load_model(tiny_checkpoint("gpt2")), "The cat sat on the mat.")
    assert 0 <= followed(gpt2, ((0, 0),), -1).place <= 1
    rotary = lab.trace(lab.load_model(tiny_checkpoint("modernbert")), "The cat sat.")
    with pytest.raises(ValueError, match="no vectors of places"):
        with_places(rotary, range(len(rotary)))


def test_the_word_that_predicts_most(course: Trace) -> None:
    place = course.labels.index("▢")
    word = named_patterns.predictor(Asked(course, place))
    assert word is not None and course.labels[word] == "france"
    tokens, maps = maps_of(STORY_TEXT)
    weights = maps[:, :, place, tokens.index("france")]
    assert divmod(int(weights.argmax()), 12) == (5, 3)
    said = named_patterns.said_of_predictor(Asked(course, place), word)
    assert f"layer 6, head 4 gives\nmost: {weights.max():.2f}" in said or f"{weights.max():.2f}" in said


def test_the_subject_is_found_in_six_sentences_where_the_rule_fails() -> None:
    for sentence in ATTRACTIONS:
        tokens, maps = maps_of(sentence.filled("[MASK]"))
        verb = tokens.index("[MASK]")
        assert tokens[int(maps[4, 10, verb].argmax())] == sentence.subject
        nouns = {each.subject for each in ATTRACTIONS} | {each.nearer for each in ATTRACTIONS}
        nearest = next(token for token in reversed(tokens[:verb]) if token in nouns)
        assert nearest == sentence.nearer  # what the rule takes
    assert rules()[grammar.SUBJECT].share == pytest.approx(0.81, abs=0.005)
    found = next(each for each in shipped(lab.load_model("lab-minilm")) or () if each.job.id == grammar.SUBJECT)
    assert found.heads[0].name == "5-11" and found.heads[0].score == pytest.approx(0.68, abs=0.005)


def test_relations_of_grammar_are_told_from_patterns() -> None:
    for name in MODELS:
        found = shipped(lab.load_model(name))
        assert found is not None
        jobs = grammar.grammatical(found)
        assert jobs and all(each.job.id.split(":")[0] in ("obj", "nsubj", "det", "case") for each in jobs), FILE


def test_a_relation_is_told_with_its_score_and_two_rules(trace: Trace) -> None:
    tagged = pipeline().tag(trace.text)
    for each in grammar.grammatical(shipped(trace.model)):
        doing = each.heads[0]
        here = cases(trace, tagged, each.job, doing)
        said = grammar.reading(each, here, here[0] if here else None)
        assert each.chance is not None and doing.score > each.chance
        numbers = [round(100 * value) for value in (doing.score, each.chance, rules()[each.job.id].share)]
        assert [int(found) for found in re.findall(r"in \**(\d+)\**(?: of 100|,|\.)", said)] == numbers
        assert (grammar.NO_CASE in said) == (not here)


def test_a_wrong_case_is_told_with_what_was_sought() -> None:
    object_of = next(each for each in JOBS if each.id == "obj:head")
    each = Notable(object_of, 0.3, (Doing(1, 2, 0.6),))
    wrong, right = Case("book", "gave", "the", False, 3, 1), Case("book", "gave", "gave", True, 3, 1)
    assert "“\u2068the\u2069” of all other words, not at “\u2068gave\u2069”" in grammar.reading(each, (wrong,), wrong)
    assert ", not at" not in grammar.reading(each, (right,), right)


def test_what_happens_without_a_head_is_counted() -> None:
    off = np.full((6, 2, 3), 0.9)
    off[:, 1, 2], off[:2, 0, 0] = 0.1, 0.2
    said = does_it_matter.reading([0.9] * 5 + [0.4], off, [0.1, 0.2, 0.3, 0.9, 0.9, 0.9], (1, 2))
    assert "prefers *was* in 1 of 6" in said and "does so in **6**" in said
    assert "instead of zero, in 3." in said and "the most is 2." in said
    assert does_it_matter.strongest(off) == (1, 2)


@pytest.mark.parametrize(
    ("entry", "met", "told"),
    [
        ("The dogs still _ tired.", True, "adverb"),
        ("Many already _ late.", True, "adverb"),
        ("The dogs _ tired.", False, check.INSIDE),
        ("They _ tired.", False, check.INSIDE),
        ("The man and the woman _ happy.", False, check.INSIDE),
        ("There _ two dogs in the garden.", False, check.INSIDE),
        ("These three _ late.", False, check.INSIDE),
        ("The rich and the poor _ tired.", False, check.INSIDE),
        ("were _", False, check.NO_SUBJECT),
        ("The dog _ tired.", False, "prefers *was*"),
        ("The dogs are tired.", False, "needs one blank"),
        ("<script>_ _", False, "needs one blank"),
    ],
)
def test_the_challenge(entry: str, met: bool, told: str) -> None:
    found = check.judge(entry)
    assert found.met == met and told in found.said
