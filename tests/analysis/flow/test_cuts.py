"""Cuts: every one is a forward pass of Hugging Face's with a mask, and what a click and a link mean."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial

import pytest
import torch

import lab
from lab.analysis.flow.cuts import OTHER_SENTENCES, Cuts, Way, cut_run, is_sink
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from tests.checkpoints import HEADS, LAYERS, Family
from tests.conftest import TinyCheckpoint
from tests.models.reference import SENTENCE, agrees, changed_input, close, load_theirs, masked

WATCHED = 7


@pytest.fixture(params=["bert", "gpt2"])
def family(request: pytest.FixtureRequest) -> Family:
    found: Family = request.param
    return found


@pytest.fixture
def model(family: Family, tiny_checkpoint: TinyCheckpoint) -> LoadedModel:
    return lab.load_model(tiny_checkpoint(family))


@pytest.fixture
def plain(model: LoadedModel) -> Trace:
    return lab.trace(model, SENTENCE)


@pytest.mark.parametrize(
    "text", ["3", "3~", "3*", "2,5", "2~,5*", "2*,5", "2.8.4", "1-2.8.4", "1.6.2,2-1.8.3,4", "2,3*,1.8.5,2-2.6.5"]
)
def test_every_cut_is_a_mask_given_to_hugging_face(
    text: str, model: LoadedModel, family: Family, tiny_checkpoint: TinyCheckpoint
) -> None:
    plain = lab.trace(model, SENTENCE)
    n = len(plain)
    cuts, whole = Cuts.read(text, plain, WATCHED)
    assert whole
    masks = torch.zeros(LAYERS, HEADS, n, n)
    if family == "gpt2":
        masks = masks.masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), -torch.inf)
    for part in text.split(","):
        place, *between = part.split(".")
        if between:
            query, key = (int(each) - 1 for each in between)
            at, _, head = place.partition("-")
            masks[int(at) - 1, slice(None) if not head else int(head) - 1, query, key] = -torch.inf
        elif part[-1] in "~*":
            key = int(part[:-1]) - 1
            deaf = [row for row in range(n) if row != key and (part[-1] == "*" or row != WATCHED)]
            masks[:, :, deaf, key] = -torch.inf
        else:
            masks[:, :, WATCHED, int(part) - 1] = -torch.inf
    theirs = load_theirs(tiny_checkpoint(family), family)
    cut = cut_run(plain, WATCHED, cuts)
    with ExitStack() as stack:
        for layer, mask in enumerate(masks):
            stack.enter_context(masked(theirs, layer, mask))
        agrees(cut, theirs.run(SENTENCE))
    assert (cut.output - plain.output).abs().max() > 1e-3


def test_without_a_cut_it_is_the_run_itself(model: LoadedModel) -> None:
    plain = lab.trace(model, SENTENCE)
    assert cut_run(plain, WATCHED, Cuts()) is plain


@pytest.mark.parametrize("way", [Way.DIRECT, Way.BOTH])
def test_every_other_token_can_be_cut_off_and_the_watched_one_still_hears_itself(way: Way, model: LoadedModel) -> None:
    plain = lab.trace(model, SENTENCE)
    cuts = Cuts(tuple((token, way) for token in range(len(plain)) if token != WATCHED))
    attention = cut_run(plain, WATCHED, cuts).attention
    assert (attention[:, :, WATCHED, WATCHED] == 1).all()


def test_the_cuts_of_the_run_before_stay(model: LoadedModel) -> None:
    before = lab.Interventions(blocked=frozenset({(5, 1)}), zero_heads=frozenset({(0, 1)}))
    cut = cut_run(lab.trace(model, SENTENCE, None, before), WATCHED, Cuts().token(2))
    assert cut.interventions.blocked == {(5, 1), (WATCHED, 2)} and cut.interventions.zero_heads == {(0, 1)}


def test_a_click_cuts_a_token_off_and_the_next_one_heals_it() -> None:
    first = Cuts().token(4)
    assert first.way_of(4) is Way.DIRECT and first.token(4) == Cuts() and not Cuts()
    assert first.token(2).tokens == ((2, Way.DIRECT), (4, Way.DIRECT))
    assert first.cut(4, Way.AROUND).tokens == ((4, Way.AROUND),), "a token is cut off in one way"


def test_a_special_token_or_a_causal_model_s_first_can_say_something_else(
    model: LoadedModel, family: Family, tiny_checkpoint: TinyCheckpoint
) -> None:
    """The states of Hugging Face's run of the other sentence, put before every layer of its run of this one."""
    plain = lab.trace(model, SENTENCE)
    cuts, whole = Cuts.read("1!", plain, WATCHED)
    assert whole and cuts.way_of(0) is Way.OTHER
    theirs = load_theirs(tiny_checkpoint(family), family)
    elsewhere = theirs.run(OTHER_SENTENCES[0]).hidden_states
    cut = cut_run(plain, WATCHED, cuts)
    with ExitStack() as stack:
        for layer in range(LAYERS):
            first = torch.cat([elsewhere[layer][:1], torch.zeros(len(plain) - 1, elsewhere[layer].shape[1])])
            here = torch.arange(len(plain))[:, None] == 0
            stack.enter_context(changed_input(theirs.block(layer), partial(_where, here, first)))
        expected = theirs.run(SENTENCE)
    for layer in range(LAYERS):
        close(cut.layer(layer).attention, expected.attentions[layer])
    close(cut.output, expected.hidden_states[-1])
    assert (cut.output - plain.output)[1:].abs().max() > 1e-5


def _where(here: torch.Tensor, new: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
    return torch.where(here, new, states)


def test_a_word_says_nothing_else(model: LoadedModel) -> None:
    plain = lab.trace(model, SENTENCE)
    assert [is_sink(plain, token) for token in (0, 3)] == [True, False]
    assert Cuts.read("4!", plain, WATCHED) == (Cuts(), False)


def test_a_second_blank_is_no_place_to_rest() -> None:
    trace = lab.trace(lab.load_model("lab-minilm"), "The [MASK] sat on the [MASK].")
    assert [is_sink(trace, token) for token in range(len(trace))] == [True, *[False] * 7, True]


def test_the_other_sentence_is_another_one_even_for_itself() -> None:
    trace = lab.trace(lab.load_model("lab-minilm"), OTHER_SENTENCES[0])
    assert (cut_run(trace, 3, Cuts().cut(0, Way.OTHER)).output - trace.output).abs().max() > 1e-3


def test_a_link_and_its_heads_are_cut_and_healed() -> None:
    one = Cuts().in_head(1, 0, 7, 3).in_head(1, 1, 7, 3).in_head(0, 1, 7, 3)
    assert one.in_head(1, 0, 7, 3).in_heads == {(1, 1, 7, 3), (0, 1, 7, 3)}
    whole = one.link(1, 7, 3)
    assert whole.links == {(1, 7, 3)} and whole.in_heads == {(0, 1, 7, 3)}, "the link's own heads go with it"
    assert whole.link(1, 7, 3).links == frozenset()


@pytest.mark.parametrize(
    "text", ["", "5", "5~", "5*", "1!", "3,5*", "2.8.5", "2-1.8.5", "1!,4~,6*,1.8.5,2.3.2,1-2.8.3"]
)
def test_a_link_says_what_it_reads(text: str, plain: Trace) -> None:
    cuts, whole = Cuts.read(text, plain, WATCHED)
    assert whole and str(cuts) == text


@pytest.mark.parametrize(
    "text",
    [
        "0",
        "99",
        "8",
        "8*",
        "8~",
        "9.8.5",
        "0.8.5",
        "2-9.8.5",
        "2.8.8",
        "2.99.5",
        "2.8",
        "x",
        "-1",
        "5**",
        "5~*",
        "5!",
        "٣",
        "5.5.5.5",
    ],
)
def test_what_is_not_there_is_left_out_and_said(text: str, plain: Trace) -> None:
    cuts, whole = Cuts.read(f"3,{text},4", plain, WATCHED)
    assert not whole and cuts == Cuts().token(2).token(3)


def test_the_last_that_a_link_says_of_a_token_counts(plain: Trace) -> None:
    assert str(Cuts.read("5,5*", plain, WATCHED)[0]) == "5*"
    assert str(Cuts.read("5*,5~,5", plain, WATCHED)[0]) == "5"
