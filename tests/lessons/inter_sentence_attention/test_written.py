"""What lesson 7 says of the course's sentences, its readings and its challenge, from Hugging Face alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from transformers import AutoModelForMaskedLM, AutoTokenizer

import lab
from lab.course.pages import lesson_of
from lab.evidence import story
from lab.lessons.inter_sentence_attention import behind_a_cell, check, matrix, pair_or_not
from lab.lessons.inter_sentence_attention.view import EXAMPLE, LONGER
from lab.models.catalogue import DEFAULT_MODEL, EMBEDDED
from lab.models.trace import Trace
from lab.questions.asking import Spot

# Tokens of the course's two sentences, and the third one of LONGER; layers and heads from 0.
FIRST, SECOND, THIRD = [*range(1, 6)], [*range(6, 11)], [*range(11, 27)]
FRANCE, BLANK, HEAD, OTHER = 4, 9, (5, 3), (5, 5)
MODELS = ("lab-minilm", "lab-bert", "lab-gpt2")


@cache
def tokenizer() -> Any:
    return AutoTokenizer.from_pretrained(EMBEDDED / DEFAULT_MODEL)


@cache
def module() -> Any:
    return AutoModelForMaskedLM.from_pretrained(EMBEDDED / DEFAULT_MODEL, attn_implementation="eager").eval()


def run(text: str, pair: str | None = None, blocked: Iterable[tuple[int, int]] = ()) -> Any:
    """Run a text; the ``blocked`` links (query, key) have a score of −∞ in all heads."""
    given = tokenizer()(text, pair, return_tensors="pt")
    n = given["input_ids"].shape[1]
    mask = torch.zeros(1, 1, n, n)
    for query, key in blocked:
        mask[..., query, key] = torch.finfo(torch.float32).min
    with torch.inference_mode():
        return module()(**{**given, "attention_mask": mask}, output_attentions=True)


def weights(out: Any) -> NDArray[np.float64]:
    """The attention of all layers and heads, (L, H, n, n)."""
    return torch.stack(out.attentions)[:, 0].double().numpy()


def best(out: Any, place: int = BLANK) -> tuple[str, float]:
    p, word = out.logits[0, place].double().softmax(-1).max(0)
    return tokenizer().convert_ids_to_tokens(int(word)), float(p)


def probability(out: Any, word: str, place: int = BLANK) -> float:
    return float(out.logits[0, place].double().softmax(-1)[tokenizer().convert_tokens_to_ids(word)])


@pytest.fixture(scope="module")
def two() -> Trace:
    return lab.trace(lab.load_model(DEFAULT_MODEL), EXAMPLE)


@pytest.fixture(scope="module")
def three() -> Trace:
    return lab.trace(lab.load_model(DEFAULT_MODEL), LONGER)


def test_the_course_s_head_looks_across_and_the_mean_hides_it(two: Trace) -> None:
    found = weights(run(EXAMPLE))
    block = found[HEAD][np.ix_(SECOND, FIRST)]
    assert divmod(int(block.argmax()), 5) == (SECOND.index(BLANK), FIRST.index(FRANCE))
    mean = found[:, :, BLANK, FRANCE].mean()
    assert mean < 1 / 12 and behind_a_cell.first_head(two) == HEAD
    said = behind_a_cell.reading(two, 1, 0, HEAD)
    for number in (block.max(), mean, 1 / 12):
        assert f"{number:.2f}" in said
    assert (f"{block.max():.2f}", f"{mean:.2f}") == ("0.88", "0.05")  # in a question of the check
    looking = np.argwhere(found[:, :, BLANK, FRANCE] > 0.5).tolist()
    assert looking == [[*HEAD], [*OTHER]]


def test_the_blank_needs_its_own_look_and_others_do_not(two: Trace) -> None:
    link = behind_a_cell.asked(two, 1, 0, HEAD)
    assert link == (BLANK, FRANCE)
    rows = behind_a_cell.cut_links(two, *link, HEAD)
    assert [row.name for row in rows][1:3] == ["cut in 6-4", "cut in 6-4 and 6-6"]
    plain, every = run(EXAMPLE), run(EXAMPLE, blocked=[(BLANK, FRANCE)])
    around = run(EXAMPLE, blocked=[(query, FRANCE) for query in range(12) if query not in (BLANK, FRANCE)])
    for out, row in ((plain, rows[0]), (every, rows[3]), (around, rows[4])):
        word, p = best(out)
        assert word == row.best[0].word and p == pytest.approx(row.best[0].probability, abs=1e-4)
        assert probability(out, "paris") == pytest.approx(row.kept, abs=1e-4)
    for row, heads in ((rows[1], [HEAD]), (rows[2], [HEAD, OTHER])):
        assert without(heads) == pytest.approx(row.kept, abs=1e-4)
    said = behind_a_cell.left(two, *link, HEAD)
    assert "from 0.74 to **0.24**" in said and "**0.01**" in said and best(every)[0] in said
    why = [option.why for option in behind_a_cell.whose_link(Spot.of(two)).options]  # type: ignore[union-attr]
    assert f"from {best(plain)[1]:.2f} to {probability(every, 'paris'):.2f}" in why[1]
    assert f"to {probability(around, 'paris'):.2f}" in why[2] and best(around)[0] == best(plain)[0] == "paris"
    recap = lesson_of("inter-sentence-attention").story.recap[1]
    assert f"from {best(plain)[1]:.2f} to {probability(every, 'paris'):.2f}" in recap


def without(heads: list[tuple[int, int]]) -> float:
    """The probability of *paris* without the blank's link to *France* in some heads of the last layer.

    The context of such a head is computed here from its other weights and values, and put before W_O.
    """
    values: list[torch.Tensor] = []
    own = module().bert.encoder.layer[5].attention
    keep = own.self.value.register_forward_hook(lambda _, __, value: values.append(value[0]))

    def change(_: Any, given: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
        context, rows = given[0].clone(), run_plain
        for layer, head in heads:
            row = torch.tensor(rows[layer, head, BLANK]).clone()
            row[FRANCE] = 0
            part = slice(32 * head, 32 * head + 32)
            context[0, BLANK, part] = (row / row.sum()).float() @ values[-1][:, part]
        return (context,)

    run_plain = weights(run(EXAMPLE))
    hook = own.output.dense.register_forward_pre_hook(change)
    try:
        return probability(run(EXAMPLE), "paris")
    finally:
        keep.remove()
        hook.remove()


def test_what_is_said_of_other_countries() -> None:
    least, said = 1.0, Counter[str]()
    countries = known = 0
    for country, capital in story.capitals():
        ids = [tokenizer()(name, add_special_tokens=False)["input_ids"] for name in (country, capital)]
        if any(len(each) > 1 for each in ids):
            continue
        text = EXAMPLE.replace("France", country)
        plain = run(text)
        countries, least = countries + 1, min(least, float(weights(plain)[(*HEAD, BLANK, FRANCE)]))
        if best(plain)[0] == capital.lower():
            known += 1
            said[best(run(text, blocked=[(BLANK, FRANCE)]))[0]] += 1
    assert said == {"tokyo": 30, "athens": 2}
    for number in (
        f"each of {countries} countries",
        f"{math.floor(100 * least) / 100:.2f} or more",
        f"capital of {known} of them",
        "these 32",
    ):
        assert number in behind_a_cell.LIST.replace("\n", " ")


def shares(out: Any, sentences: list[list[int]]) -> NDArray[np.float64]:
    """The share that each sentence gives to each, of the attention that goes to sentences."""
    mean, kept = weights(out).mean((0, 1)), sorted(place for each in sentences for place in each)
    mean /= mean[:, kept].sum(1, keepdims=True)
    return np.array([[mean[np.ix_(a, b)].sum(1).mean() for b in sentences] for a in sentences])


def test_the_map_of_three_sentences_and_what_length_explains(three: Trace) -> None:
    out, sentences = run(LONGER), [FIRST, SECOND, THIRD]
    mass = shares(out, sentences)
    lengths = np.array([5, 5, 16]) / 26
    relative = mass / lengths
    assert mass[1, 2] > mass[1, 0] and relative[1, 0] > 1 > relative[1, 2]
    said = matrix.story(three).replace("\n", " ")
    for number in (f"{mass[1, 2]:.0%}", f"{mass[1, 0]:.0%}", f"{relative[1, 0]:.2f}", f"{relative[1, 2]:.2f}"):
        assert number in said
    assert "16 tokens, and the first one 5" in said and f"{mass[1, 0]:.3f}" in matrix.formula(three, 1, 0, True)
    found = weights(out)
    for a, b in np.ndindex(3, 3):
        block = found[:, :, sentences[a]][..., sentences[b]]
        layer, head, query, key = (int(each) for each in np.unravel_index(int(block.argmax()), block.shape))
        said = matrix.reading(three, a, b, True)
        assert f"**{mass[a, b]:.0%}** to sentence {b + 1}" in said and f"{relative[a, b]:.2f} times" in said
        assert f"{lengths[b]:.0%}, so" in said and f"{block.max():.2f}." in said
        if block.max() < 0.999:  # several heads give nearly 1
            assert f"head {layer + 1}-{head + 1}, from" in said
            assert matrix.strongest_at(three, a, b, True) == ((layer, head), sentences[a][query], sentences[b][key])


def test_what_the_check_says(two: Trace) -> None:
    found = weights(run(EXAMPLE))
    block = found[:, :, SECOND][..., FIRST]
    assert [int(at) for at in np.unravel_index(int(block.argmax()), block.shape)] == [
        0,
        2,
        0,
        4,
    ]  # 1-3, from "the" to the full stop
    back = found[0, 2]
    assert [tokenizer().convert_ids_to_tokens(two.token_ids[place]) for place in (7, 6, 2, 1)] == [
        "capital", "the", "lives", "she",
    ]  # fmt: skip
    assert min(block.max(), back[7, 6], back[2, 1]) > 0.995
    first, second = EXAMPLE.split(". ")
    pair = weights(run(f"{first}.", second))[HEAD]
    far = weights(run(f"{first}.{LONGER.removeprefix(EXAMPLE)} {second}"))[HEAD]
    whys = [option.why for option in check.no_border(Spot.of(two)).options]  # type: ignore[union-attr]
    assert f"{far[BLANK + 16, FRANCE]:.2f}" in whys[0] and LONGER.removeprefix(EXAMPLE).strip() in whys[0]
    assert f"{pair[BLANK + 1, FRANCE]:.2f}" in whys[2]


@pytest.mark.parametrize(
    ("entry", "met", "word"),
    [
        ("Anna works in Greece. Her home is in _.", True, "athens"),
        ("She bought a violin. She plays the _ every day.", True, "violin"),
        ("She lives in Japan. The capital is _.", False, "capital"),
        ("They live in France. Their city is _.", False, "france"),
        ("My brother is a doctor. He works in a _.", False, "doctor"),
        ("I went to Rome. I love _.", False, "No word leads"),
        ("The king is old. The _ is young.", False, "does not look across"),
        ("He was born in Egypt. His language is _.", False, "still says"),
        ("Only one sentence with a _.", False, "two sentences"),
        ("The _ is first. Then comes a word.", False, "two sentences"),
        ("One. Two. Three _.", False, "two sentences"),
        ("?! A word is _.", False, ""),
        ("<script>alert(1)</script> lives. It is _.", False, ""),
    ],
)
def test_the_lab_looks_at_two_sentences(entry: str, met: bool, word: str) -> None:
    verdict = check.judge(entry)
    assert verdict.met == met and word in verdict.said and "<script>" not in verdict.said
    if met:
        out = run(entry.replace("_", "[MASK]"))
        ids = tokenizer()(entry.replace("_", "[MASK]"))["input_ids"]
        place = ids.index(tokenizer().mask_token_id)
        row = weights(out)[HEAD][place]
        stop = ids.index(tokenizer().convert_tokens_to_ids("."))
        key = 1 + int(row[1:stop].argmax())
        cut = run(entry.replace("_", "[MASK]"), blocked=[(place, key)])
        assert row[key] >= 0.5 and best(out, place)[0] == word != best(cut, place)[0]
        assert f"{row[key]:.2f}" in verdict.said and best(cut, place)[0] in verdict.said


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("text", ["The cat sat. The dog ran.", "Dr. Miller lost his dog. It barked! Nobody heard it."])
def test_readings_of_any_text(model: str, text: str) -> None:
    trace = lab.trace(lab.load_model(model), text)
    sentences, causal = behind_a_cell.split(trace), trace.model.config.causal
    rows, columns = list(sentences.places(1)), list(sentences.places(0))
    attention = trace.attention.numpy().astype(np.float64)
    layer, head = found = behind_a_cell.first_head(trace)
    block = attention[layer, head][np.ix_(rows, columns)]
    said = behind_a_cell.reading(trace, 1, 0, found)
    query = rows[int(block.argmax()) // len(columns)]
    even = 1 / (query + 1 if causal else len(trace))
    assert f"**{block.max():.2f}**" in said and f"gives it {even:.2f}" in said
    words = [[place for place in places if trace.labels[place].strip("␣").isalpha()] for places in (rows, columns)]
    far = [
        (float(attention[at, of, i, j]), (at, of))
        for at, of in np.ndindex(*attention.shape[:2])
        for i in words[0]
        for j in words[1]
        if i - j > 1 and not (causal and j == 0)
    ]
    assert max(far)[1] == found


@pytest.mark.parametrize("model", MODELS)
def test_a_pair_is_compared_with_the_same_sentences_in_one_text(model: str) -> None:
    own = lab.load_model(model)
    for text, pair in (("The cat sat. The dog ran.", None), ("The cat sat.", "The dog ran.")):
        found = pair_or_not.both(lab.trace(own, text, pair))
        assert found is not None
        one, two = found
        assert (one.pair, two.pair) == (None, "The dog ran.")
        told = []
        for each in found:
            kept = [p for p in range(len(each)) if not each.encoding.special[p] and each.labels[p].strip("␣")]
            kept = kept[1:] if own.config.causal else kept
            mean = each.attention.numpy().astype(np.float64).mean((0, 1))[:, kept]
            mean /= np.maximum(mean.sum(1, keepdims=True), 1e-12)
            stop = next(place for place in kept if each.labels[place] == ".")
            rows = [place for place in kept if place > stop]
            told.append(mean[np.ix_(rows, [i for i, place in enumerate(kept) if place <= stop])].sum(1).mean())
        said = pair_or_not.reading(one, two, 1, 0)
        assert f"**{told[0]:.0%}**" in said and f"**{told[1]:.0%}** as a pair" in said
    assert pair_or_not.both(lab.trace(own, "The dog ran. " * 15)) is not None
