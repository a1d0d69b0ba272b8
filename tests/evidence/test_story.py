"""The story of the course, against a measurement that uses Hugging Face's model, tokenizer and hooks alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from itertools import permutations
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from transformers import AutoModelForMaskedLM, AutoTokenizer

from lab.evidence import story
from lab.evidence.story import CourseStory
from lab.models.catalogue import DEFAULT_MODEL, EMBEDDED
from lab.models.loading import load_model
from tests.thorough import some

WIDTH, HEADS, LAYERS = 384, 12, 6
COUNTRY, BLANK = 4, 6  # [CLS] the capital of france is [MASK] . [SEP]
HEAD_WIDTH = WIDTH // HEADS


@pytest.fixture(scope="module")
def told() -> CourseStory:
    found = story.known(load_model(DEFAULT_MODEL))
    assert found is not None
    return found


@cache
def module() -> Any:
    return AutoModelForMaskedLM.from_pretrained(EMBEDDED / DEFAULT_MODEL, attn_implementation="eager").eval()


@cache
def tokenizer() -> Any:
    return AutoTokenizer.from_pretrained(EMBEDDED / DEFAULT_MODEL)


def ids(texts: list[str]) -> Tensor:
    return tokenizer()(texts, return_tensors="pt")["input_ids"]


def run(tokens: Tensor) -> tuple[Tensor, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Probabilities in the blank, attention and states of texts of equal length."""
    with torch.inference_mode():
        out = module().bert(input_ids=tokens, output_attentions=True, output_hidden_states=True)
        logits = module().cls(out.hidden_states[-1][:, BLANK])
    return logits.double().softmax(-1), out.attentions, out.hidden_states


def onward(layer: int, states: Tensor) -> Tensor:
    """Probabilities in the blank, computed by Hugging Face's layers from this one on."""
    with torch.inference_mode():
        for each in module().bert.encoder.layer[layer:]:
            states = each(states)
        return module().cls(states[:, BLANK]).double().softmax(-1)


@contextmanager
def hooked(layer: nn.Module, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    handle = layer.register_forward_pre_hook(lambda _, given: (change(given[0]), *given[1:]))
    try:
        yield
    finally:
        handle.remove()


def projection(layer: int) -> Any:
    return module().bert.encoder.layer[layer].attention.output.dense


@cache
def countries() -> tuple[tuple[str, str], ...]:
    """The countries of the list whose name and capital are one piece each."""
    kept = []
    for country, capital in story.capitals():
        pieces = [tokenizer().tokenize(name) for name in (country, capital)]
        if [len(each) for each in pieces] == [1, 1]:
            kept.append((country, capital))
    return tuple(kept)


@cache
def known() -> tuple[tuple[str, ...], Tensor, Tensor, Tensor]:
    """The countries whose capital comes first, their tokens, the ids of the capitals, and all probabilities."""
    texts = [f"The capital of {country} is [MASK]." for country, _ in countries()]
    capitals = torch.tensor(tokenizer().convert_tokens_to_ids([capital.lower() for _, capital in countries()]))
    tokens = ids(texts)
    p = run(tokens)[0]
    first = p.argmax(-1) == capitals
    names = tuple(name for (name, _), kept in zip(countries(), first.tolist(), strict=True) if kept)
    return names, tokens[first], capitals[first], p[first]


def test_the_countries_and_their_capitals(told: CourseStory) -> None:
    assert [(row.country, row.capital) for row in told.countries] == list(countries())
    names, _, capitals, p = known()
    assert tuple(row.country for row in told.named) == names
    theirs = p[torch.arange(len(names)), capitals]
    assert [row.probability for row in told.named] == pytest.approx(theirs.tolist(), abs=1e-4)


def test_the_heads_that_look(told: CourseStory) -> None:
    tokens = ids([f"The capital of {country} is [MASK]." for country, _ in countries()])
    attention = torch.stack(run(tokens)[1])  # (L, b, H, n, n)
    france = [country for country, _ in countries()].index("France")
    places = {"is": 5, "capital": 2, "country": COUNTRY}
    for word, key in places.items():
        strong = (attention[:, france, :, BLANK, key] >= 0.4).nonzero().tolist()
        assert [[look.layer, look.head] for look in told.looks if look.word == word] == strong
    for place, look in enumerate(told.looks):
        theirs = attention[look.layer, :, look.head, BLANK, places[look.word]]
        assert [row.weights[place] for row in told.countries] == pytest.approx(theirs.tolist(), abs=1e-4)
    for place, look in enumerate(each for each in told.looks if each.word == "country"):
        rows = attention[look.layer, :, look.head][:, [1, 2, 3, 4, 5, 7]]
        resting = (rows[..., 0] + rows[..., 8]).amin(-1)
        assert [row.resting[place] for row in told.countries] == pytest.approx(resting.tolist(), abs=1e-4)


def _counts(pairs: list[tuple[int, int]], p: Tensor) -> tuple[int, int, int, float, float]:
    """Pairs, own and other capital first, and the medians of the shares, from changed probabilities (pairs, words)."""
    _, _, capitals, plain = known()
    own, other = torch.tensor(pairs).T
    at = torch.arange(len(pairs))
    left, share = (p[at, capitals[each]] / plain[each, capitals[each]] for each in (own, other))
    best = p.argmax(-1)
    return (
        len(pairs),
        int((best == capitals[own]).sum()),
        int((best == capitals[other]).sum()),
        float(np.median(left)),
        float(np.median(share)),
    )


def _same(row: story.ExchangedRow, theirs: tuple[int, int, int, float, float]) -> None:
    assert (row.pairs, row.own, row.other) == theirs[:3]
    assert (row.left, row.share) == pytest.approx(theirs[3:], rel=1e-3)


@pytest.mark.parametrize(
    ("change", "heads"), some([("heads at country", (3, 5)), ("other heads of their layer", None)], 1)
)
def test_swaps(told: CourseStory, change: str, heads: tuple[int, ...] | None) -> None:
    names, tokens, _, _ = known()
    chosen = heads or tuple(head for head in range(HEADS) if head not in (3, 5))
    columns = torch.cat([torch.arange(h * HEAD_WIDTH, (h + 1) * HEAD_WIDTH) for h in chosen])
    kept: list[Tensor] = []

    def keep(context: Tensor) -> Tensor:
        kept.append(context[:, BLANK].clone())
        return context

    before = run(tokens)[2][LAYERS - 1]
    with hooked(projection(LAYERS - 1), keep):
        onward(LAYERS - 1, before)
    found: dict[tuple[int, int], Tensor] = {}
    for source in range(len(names)):

        def swapped(context: Tensor, source: int = source) -> Tensor:
            context = context.clone()
            context[:, BLANK, columns] = kept[0][source, columns]
            return context

        with hooked(projection(LAYERS - 1), swapped):
            for own, p in enumerate(onward(LAYERS - 1, before)):
                if own != source:
                    found[own, source] = p
    pairs = list(permutations(range(len(names)), 2))
    _same(told.change(change), _counts(pairs, torch.stack([found[pair] for pair in pairs])))


@pytest.mark.parametrize("which", some(["country", "blank", "other tokens"], 1))
def test_exchanged_states(told: CourseStory, which: str) -> None:
    names, tokens, _, _ = known()
    every = list(permutations(range(len(names)), 2))
    drawn = np.random.default_rng(0).choice(len(every), size=200, replace=False)
    pairs = [every[place] for place in sorted(drawn.tolist())]
    own, other = torch.tensor(pairs).T
    places = {"country": [COUNTRY], "blank": [BLANK]}.get(which, [0, 1, 2, 3, 5, 7, 8])
    states = run(tokens)[2]
    for after in some(range(LAYERS + 1), 3):
        exchanged = states[after][own]
        exchanged[:, places] = states[after][other][:, places]
        _same(told.change(which, after), _counts(pairs, onward(after, exchanged)))


def test_removed_heads_and_words(told: CourseStory) -> None:
    names, tokens, capitals, _ = known()
    at = torch.arange(len(names))

    def compare(change: str, p: Tensor) -> None:
        rows = [row for row in told.removed if row.change == change]
        assert [row.country for row in rows] == list(names)
        assert [row.probability for row in rows] == pytest.approx(p[at, capitals].tolist(), abs=1e-4)
        assert [row.best for row in rows] == tokenizer().convert_ids_to_tokens(p.argmax(-1))

    columns = torch.cat([torch.arange(h * HEAD_WIDTH, (h + 1) * HEAD_WIDTH) for h in (3, 5)])

    def replaced(context: Tensor, mean: bool) -> Tensor:
        context = context.clone()
        context[..., columns] = context[..., columns].mean(1, keepdim=True) if mean else 0.0
        return context

    for way, mean in (("at zero", False), ("at their mean", True)):
        with hooked(projection(LAYERS - 1), partial(replaced, mean=mean)):
            compare(f"heads at country, {way}", run(tokens)[0])

    for word, key in (("is", 5), ("capital", 2), ("country", COUNTRY)):
        for whom, rows in (("the blank", [BLANK]), ("everybody", [i for i in range(9) if i != key])):
            mask = torch.zeros(1, 1, 9, 9)
            mask[..., rows, key] = torch.finfo(torch.float32).min
            with torch.inference_mode():
                logits = module()(input_ids=tokens, attention_mask=mask).logits
            compare(f"{word} cut off from {whom}", logits[:, BLANK].double().softmax(-1))


def test_nobody_who_cannot_hear_the_country_says_anything_about_it(told: CourseStory) -> None:
    """A property: with the country cut off from everybody, all countries give the same run at the blank."""
    said = {row.best for row in told.removed if row.change == "country cut off from everybody"}
    assert len(said) == 1


def test_the_sentence_about_france_and_the_others(told: CourseStory) -> None:
    said = {row.change: row for row in told.said}
    france = run(ids(["The capital of France is [MASK]."]))[0][0].topk(4)
    assert said["as it is"].words == tuple(tokenizer().convert_ids_to_tokens(france.indices))
    assert said["as it is"].probabilities == pytest.approx(france.values.tolist(), abs=1e-4)

    def silent(x: Tensor) -> Tensor:
        return torch.zeros_like(x)

    with hooked(module().bert.encoder.layer[LAYERS - 1].output.dense, silent):
        without = run(ids(["The capital of France is [MASK]."]))[0][0].topk(4)
    row = said["network of the last layer at zero"]
    assert row.words == tuple(tokenizer().convert_ids_to_tokens(without.indices))
    assert row.probabilities == pytest.approx(without.values.tolist(), abs=1e-4)

    for other in told.others:
        texts = [text.replace(story.BLANK, "[MASK]") for text in (other.text, other.pair) if text]
        encoded = tokenizer()(*texts, return_tensors="pt")
        tokens = tokenizer().convert_ids_to_tokens(encoded["input_ids"][0])
        blank, key = tokens.index("[MASK]"), tokens.index(other.word)
        with torch.inference_mode():
            out = module()(**encoded, output_attentions=True)
        top = out.logits[0, blank].double().softmax(-1).topk(4)
        assert other.words == tuple(tokenizer().convert_ids_to_tokens(top.indices))
        assert other.probabilities == pytest.approx(top.values.tolist(), abs=1e-4)
        assert other.weights == pytest.approx([float(out.attentions[5][0, h, blank, key]) for h in (3, 5)], abs=1e-4)


def test_only_a_model_that_knows_france_has_the_story() -> None:
    for model_id in ("lab-bert", "lab-gpt2"):
        with pytest.raises(ValueError, match=r"does not (fill|say)"):
            story.check(load_model(model_id))


def test_a_row_that_there_is_not_is_refused(told: CourseStory) -> None:
    with pytest.raises(KeyError):
        told.change("heads at country", 3)
    assert replace(told, exchanged=()).looks == told.looks
