"""Cuts: every one is a forward pass of Hugging Face's with a mask, and what a click and a link mean."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
import torch

import lab
from lab.analysis.flow.cuts import Cuts, cut_run
from lab.models.loading import LoadedModel
from tests.checkpoints import HEADS, LAYERS, Family
from tests.conftest import TinyCheckpoint
from tests.models.reference import SENTENCE, agrees, load_theirs, masked

WATCHED, N = 7, 12


@pytest.fixture(params=["bert", "gpt2"])
def family(request: pytest.FixtureRequest) -> Family:
    found: Family = request.param
    return found


@pytest.fixture
def model(family: Family, tiny_checkpoint: TinyCheckpoint) -> LoadedModel:
    return lab.load_model(tiny_checkpoint(family))


@pytest.mark.parametrize(
    "text", ["3", "3*", "2,5", "2*,5", "2.8.4", "1-2.8.4", "1.6.2,2-1.8.3,4", "2,3*,1.8.5,2-2.6.5"]
)
def test_every_cut_is_a_mask_given_to_hugging_face(
    text: str, model: LoadedModel, family: Family, tiny_checkpoint: TinyCheckpoint
) -> None:
    plain = lab.trace(model, SENTENCE)
    n = len(plain)
    cuts, whole = Cuts.read(text, model.config, n, WATCHED)
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
        elif part.endswith("*"):
            silent = int(part[:-1]) - 1
            masks[:, :, [row for row in range(n) if row != silent], silent] = -torch.inf
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


def test_a_token_cut_off_is_its_link_cut_in_every_layer(model: LoadedModel) -> None:
    plain = lab.trace(model, SENTENCE)
    links = Cuts(links=frozenset((layer, WATCHED, 3) for layer in range(LAYERS)))
    by_token, by_links = (cut_run(plain, WATCHED, cuts) for cuts in (Cuts(unheard=frozenset({3})), links))
    assert torch.equal(by_token.hidden_states, by_links.hidden_states)


def test_every_other_token_can_be_cut_off_and_the_watched_one_still_hears_itself(model: LoadedModel) -> None:
    plain = lab.trace(model, SENTENCE)
    others = frozenset(range(len(plain))) - {WATCHED}
    for cuts in (Cuts(unheard=others), Cuts(silent=others)):
        attention = cut_run(plain, WATCHED, cuts).attention
        assert (attention[:, :, WATCHED, WATCHED] == 1).all()


def test_the_cuts_of_the_run_before_stay(model: LoadedModel) -> None:
    before = lab.Interventions(blocked=frozenset({(5, 1)}), zero_heads=frozenset({(0, 1)}))
    cut = cut_run(lab.trace(model, SENTENCE, None, before), WATCHED, Cuts(unheard=frozenset({2})))
    assert cut.interventions.blocked == {(5, 1), (WATCHED, 2)} and cut.interventions.zero_heads == {(0, 1)}


def test_a_click_cuts_a_token_off_then_from_all_then_heals_it() -> None:
    first = Cuts().token(4)
    second = first.token(4)
    assert (first, second) == (Cuts(unheard=frozenset({4})), Cuts(silent=frozenset({4})))
    assert second.token(4) == Cuts() and not Cuts() and first.token(2).unheard == {2, 4}


def test_a_link_and_its_heads_are_cut_and_healed() -> None:
    one = Cuts().in_head(1, 0, 7, 3).in_head(1, 1, 7, 3).in_head(0, 1, 7, 3)
    assert one.in_head(1, 0, 7, 3).in_heads == {(1, 1, 7, 3), (0, 1, 7, 3)}
    whole = one.link(1, 7, 3)
    assert whole.links == {(1, 7, 3)} and whole.in_heads == {(0, 1, 7, 3)}, "the link's own heads go with it"
    assert whole.link(1, 7, 3).links == frozenset()


@pytest.mark.parametrize("text", ["", "5", "5*", "3,5*", "2.8.5", "2-1.8.5", "1,4,6*,1.8.5,2.3.2,1-2.8.3"])
def test_a_link_says_what_it_reads(text: str, model: LoadedModel) -> None:
    cuts, whole = Cuts.read(text, model.config, N, WATCHED)
    assert whole and str(cuts) == text


@pytest.mark.parametrize(
    "text",
    ["0", "13", "8", "8*", "9.8.5", "0.8.5", "2-9.8.5", "2.8.8", "2.13.5", "2.8", "x", "-1", "5**", "٣", "5.5.5.5"],
)
def test_what_is_not_there_is_left_out_and_said(text: str, model: LoadedModel) -> None:
    cuts, whole = Cuts.read(f"3,{text},4", model.config, N, WATCHED)
    assert not whole and cuts == Cuts(unheard=frozenset({2, 3}))


def test_the_last_that_a_link_says_of_a_token_counts(model: LoadedModel) -> None:
    assert str(Cuts.read("5,5*", model.config, N, WATCHED)[0]) == "5*"
    assert str(Cuts.read("5*,5", model.config, N, WATCHED)[0]) == "5"
