"""The lesson on head specialization, run whole: every step, every kind of model, what texts can do to it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import lab
from lab.analysis.heads.features import FEATURES, HeadSample, features_of
from lab.analysis.heads.patterns import trace_patterns
from lab.analysis.heads.specialization import SPECIALIZATIONS, trace_specialization
from lab.analysis.heads.survey import head_survey
from lab.analysis.heads.values import Values, layer_groups
from lab.course.sentences.agreement import ATTRACTIONS, FORMS
from lab.evidence.notable import JOBS
from lab.figures.specialization import names_of
from lab.lessons.head_specialization import does_it_matter
from lab.lessons.head_specialization.attraction import attractions
from lab.lessons.head_specialization.named_patterns import pattern_name
from lab.lessons.head_specialization.relations import to_others
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.interventions import Interventions
from lab.models.trace import trace_encoding
from lab.models.twin import random_twin, untrained_twin
from lab.text.tags import pipeline
from lab.text.tags.tokens import TaggedSpan, encoding_tags, tagged
from lab.ui import runs
from tests.pages.apptest import Offer, check_answers, go, reveal, unfold, visit, walk, words, worked
from tests.sentences import STORY

PAGE = "6_Head_specialization.py"
TEXT = "The cat sat on the mat because it was tired in Paris."
STEPS = (
    "radar",
    "named-patterns",
    "grammar",
    "does-it-matter",
    "many-sentences",
    "check",
)
DOES = {job.id: job.does for job in JOBS}
BOOK = "She read the book."
OWN = "The dog ran home.\n\nShe met Anna in London.\nIs it late?"


def open_step(step: str, **params: str) -> AppTest:
    return reveal(visit(PAGE, step=step, **{"text": TEXT, **params}))


def read(at: AppTest) -> AppTest:
    """Press the button that starts the survey, or goes on with it."""
    next(button for button in at.main.button if re.match("Read|Go on", button.label)).click().run()
    return reveal(worked(at))


def sample(text: str, model: str = DEFAULT_MODEL) -> HeadSample:
    """A trace and its tags, without the page's caches."""
    trace = lab.trace(lab.load_model(model), text)
    found = pipeline.pipeline().tag(text)
    speech: list[TaggedSpan[str | None]] = [TaggedSpan(token.start, token.end, token.pos) for token in found.tokens]
    names: list[TaggedSpan[str | None]] = [
        TaggedSpan(entity.start, entity.end, entity.label) for entity in found.entities
    ]
    return HeadSample(trace, encoding_tags(trace.encoding, speech), encoding_tags(trace.encoding, names))


@pytest.mark.parametrize("text", [TEXT, "a"])
def test_gpt2_has_a_first_token_instead_of_cls(text: str, offer: Offer) -> None:
    name = offer("gpt2")
    at = visit(PAGE, model=name, text=text, version="Corrected")
    assert at.selectbox(key="model").value == name
    go(at, "radar")
    reveal(at).segmented_control(key="sinks").set_value("Kept").run()
    assert "**First token**" in words(unfold(at, "_formulas"))


def test_the_words_of_a_pair_are_tagged() -> None:
    at = visit(PAGE, text="She sat.", pair="Anna stood in Paris.")
    go(at, "radar")
    assert any("proper noun" in str(html.proto.body) for html in at.get("html"))


@pytest.mark.parametrize("weights", ["Constructed", "Random"])
def test_toys_have_patterns_but_no_parts_of_speech(weights: str) -> None:
    at = visit(PAGE, mode="Toy", toy_weights=weights, toy_seed="5")
    go(at, "radar")
    assert "is **" in words(unfold(go(at, "named-patterns"), "_own_scores"))
    read(go(at, "many-sentences"))
    assert "heads have a different name here" in words(at)
    radios = [radio for radio in go(at, "check").radio if str(radio.key).startswith("_check.")]
    assert len(radios) >= 2


def test_cards_show_the_metrics_of_the_chosen_head() -> None:
    one = sample(TEXT)
    found = trace_specialization(one.trace, one.upos, one.entities)
    for corrected in (False, True):
        version = "Corrected" if corrected else "Raw"
        at = unfold(open_step("radar", layer="2", head="3", version=version, sinks="Kept"), "_formulas")
        for dimension in SPECIALIZATIONS:
            value = found.values(dimension.id, corrected)[1, 2]
            assert f"**{value:.3f}**" in words(at), dimension.id
            assert any(f"= {value:.3f}" in formula.value for formula in at.latex), dimension.id
        assert any("U_{ii}" in formula.value for formula in at.latex) == corrected


@pytest.mark.parametrize("model", [DEFAULT_MODEL, "lab-bert", "lab-gpt2"])
def test_the_grammar_map_shares_out_what_goes_to_other_words(model: str) -> None:
    """By loops over tokens: from a word the mean of its tokens, to a word the sum, nothing to itself."""
    trace = lab.trace(lab.load_model(model), "The old dog that chased my neighbour's cats sleeps in the kitchen.")
    spans = [(token.start, token.end) for token in pipeline.pipeline().tag(trace.text).tokens]
    weights, found = trace.layer(2).attention[0].double().numpy(), to_others(trace, 2, 0)
    special = trace.encoding.special
    of = [
        next((w for w, (start, end) in enumerate(spans) if not own and start < last and first < end), -1)
        for (first, last), own in zip(trace.offsets, special, strict=True)
    ]
    members = [[i for i, word in enumerate(of) if word == number] for number in range(len(spans))]
    assert found.words == tuple(trace.text[start:end] for start, end in spans)
    for word, rows in enumerate(members):
        given = [
            0 if other == word else weights[np.ix_(rows, keys)].sum(1).mean() for other, keys in enumerate(members)
        ]
        assert found.given[word] == pytest.approx(given, abs=1e-6)
        if sum(given):
            assert found.shares[word] == pytest.approx(np.array(given) / sum(given), abs=1e-5)
            for row in rows:  # the arcs of the sentence
                arcs = np.zeros(len(trace))
                arcs[[keys[0] for keys in members]] = np.array(given) / sum(given)
                assert found.of_tokens[row] == pytest.approx(arcs, abs=1e-5)


def words_only(one: HeadSample, layer: int, head: int, upos: set[str]) -> float:
    """By hand: how much the words of a head send to words of some kinds over an even share."""
    keep = [not special for special in one.trace.encoding.special]
    if all(keep):
        keep[0] = False  # GPT-2: the first token
    causal = one.trace.model.config.causal
    places = [i for i, kept in enumerate(keep) if kept]
    weights = one.trace.layer(layer).attention[head].double().numpy()
    given = even = 0.0
    for query in places:
        seen = [key for key in places if not causal or key <= query]
        left = sum(weights[query, key] for key in seen)
        given += sum(weights[query, key] for key in seen if one.upos[key] in upos) / left
        even += sum(one.upos[key] in upos for key in seen) / len(seen)
    return given / even


FUNCTION_TAGS = {"DET", "ADP", "AUX", "CCONJ", "SCONJ", "PART", "PRON"}
BOYS = "The boys who play in the garden are tired."


@pytest.mark.parametrize(("model", "layer", "head"), [(DEFAULT_MODEL, 2, 7), ("lab-gpt2", 4, 7), ("lab-gpt2", 4, 4)])
def test_without_special_tokens_or_the_first_one_a_card_says_what_the_words_alone_give(
    model: str, layer: int, head: int
) -> None:
    one = sample(BOYS, model)
    value = words_only(one, layer - 1, head - 1, FUNCTION_TAGS)
    before = trace_specialization(one.trace, one.upos, one.entities)
    kept = before.values("function_words", True)[layer - 1, head - 1]
    params = {"text": BOYS, "model": model, "layer": str(layer), "head": str(head), "version": "Corrected"}
    without = words(unfold(open_step("radar", **params), "_formulas"))
    assert f"**{value:.3f}** × a uniform head" in without
    assert f": {kept:.3f}" in without  # what it would be with them
    assert "among the tokens that are left" in without
    with_them = words(unfold(open_step("radar", **params, sinks="Kept"), "_formulas"))
    assert f"**{kept:.3f}** × a uniform head" in with_them and f": {value:.3f}" in with_them
    assert "among all tokens" in with_them


def function_words(samples: list[HeadSample]) -> Values:
    """What every head gives to function words, corrected, as a mean over the sentences."""
    features = [features_of(list(layer_groups(each.trace)), each) for each in samples]
    return np.asarray(np.nanmean([each[..., FEATURES.index("function_words")] for each in features], axis=0))


def survey_of(at: AppTest, lines: str) -> AppTest:
    at.text_area(key="_lines").set_value(lines).run()
    return read(at)


def test_many_sentences_say_how_many_heads_the_special_tokens_move_across_one() -> None:
    lines = f"{OWN}\n{BOYS}"
    at = survey_of(open_step("many-sentences", source="Your own"), lines)
    at.selectbox(key="_averaged").set_value("Function words").run()
    samples = [sample(line) for line in lines.splitlines() if line]
    config = samples[0].trace.model.config
    means = np.array(
        [
            [np.mean([words_only(one, layer, head, FUNCTION_TAGS) for one in samples]) for head in range(config.heads)]
            for layer in range(config.layers)
        ]
    )
    assert f"**{means.max():.2f}** times" in words(at)
    kept = function_words(samples)
    assert (
        f"{np.count_nonzero((means > 1) != (kept > 1))} of {means.size} heads would be on the other side of 1"
        in words(at)
    )
    at.segmented_control(key="sinks").set_value("Kept").run()
    assert f"**{kept.max():.2f}** times" in words(at)


@pytest.mark.parametrize("step", ["radar", "grammar"])
def test_a_text_that_is_not_english_is_told_from_one_that_is(step: str) -> None:
    at = open_step(step, text="Der Hund schläft auf dem Sofa, weil er müde ist.")
    assert any("does not look English" in each.value for each in at.warning)
    assert not any("does not look English" in each.value for each in open_step(step).warning)


@pytest.mark.parametrize("kept", [False, True])
def test_names_and_scores(kept: bool) -> None:
    """Among words only, as the step begins, and with the special tokens."""
    trace = lab.trace(lab.load_model(DEFAULT_MODEL), TEXT)
    patterns, names = trace_patterns(trace, only_words=not kept), names_of(trace, not kept)
    at = open_step("named-patterns", layer="1", head="1", **({"sinks": "Kept"} if kept else {}))
    unfold(at, "_own_scores")
    assert f"is **{pattern_name(str(names[0, 0]))}**" in words(at)
    own = next(frame.value for frame in at.dataframe if "this head" in frame.value).set_index("pattern")
    row = own.loc["Previous token"]
    assert row["uniform head"] == pytest.approx(1 / (len(trace) - (0 if kept else 2)))
    encoded = trace_encoding(random_twin(trace.model, 0), trace.encoding)
    twin = trace_patterns(encoded, only_words=not kept).previous_token
    assert row["best untrained head"] == pytest.approx(twin.max())
    assert row["this head"] == pytest.approx(patterns.previous_token[0, 0])
    at.session_state["named-heads"] = {"selection": {"cell": [{"q": 2, "k": 4}]}}
    at.run()
    assert (at.selectbox(key="layer").value, at.selectbox(key="head").value) == (3, 5)


def test_a_uniform_head_has_all_of_the_bag_of_words_of_a_causal_model() -> None:
    at = unfold(open_step("named-patterns", model="lab-gpt2", sinks="Kept"), "_own_scores")
    frame = next(frame.value for frame in at.dataframe if "this head" in frame.value).set_index("pattern")
    assert frame.loc["Bag of words", "uniform head"] == pytest.approx(1)
    assert frame.loc["Bag of words", "above chance"] == "no room"


@pytest.mark.parametrize("model", [DEFAULT_MODEL, "lab-bert", "lab-gpt2"])
def test_heads_are_taken_away_one_at_a_time_in_six_sentences(model: str) -> None:
    """By Hugging Face's way: one run of each sentence with the head's numbers set to 0 before W_O."""
    at = open_step("does-it-matter", model=model, text=STORY)
    loaded = runs.model(model)
    found = attractions(loaded)
    assert found is not None and len(found) == len(ATTRACTIONS)
    mask = "" if loaded.config.causal else "[MASK]"
    space = "\u0120" if loaded.config.causal else ""
    good, bad = (loaded.tokenizer.token_to_id(space + form) for form in FORMS)
    for sentence, each in zip(ATTRACTIONS, found, strict=True):
        text = sentence.filled(mask) if mask else sentence.text.split(" _")[0]
        for changes, share in (
            (Interventions(), each.before),
            (Interventions(zero_heads=frozenset({(1, 2)})), each.off[1, 2]),
        ):
            trace = lab.trace(loaded, text, None, changes)
            place = len(trace) - 1 if not mask else trace.tokens.index(mask)
            logits = trace.logits(place)[0].double()
            odds = (logits[good] - logits[bad]).exp().item()
            assert share == pytest.approx(odds / (1 + odds), abs=1e-4)
    assert len(at.get("vega_lite_chart")) == 1
    off = np.stack([each.off for each in found])
    lost = (off < 0.5).sum(0)[does_it_matter.strongest(off)]
    assert f"does so in **{lost}**" in words(at)


def test_a_model_that_takes_long_is_asked_only_at_a_click(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(does_it_matter, "_UNASKED", 0)
    at = open_step("does-it-matter", model="lab-bert")
    assert not at.get("vega_lite_chart") and "one run each of 6 sentences: about" in words(at)
    next(button for button in at.button if button.label == "Switch off each head").click().run()
    assert len(reveal(at).get("vega_lite_chart")) == 1


def test_own_sentences_are_averaged() -> None:
    at = open_step("many-sentences", source="Your own")
    assert "Paste your sentences above" in words(at)
    at.text_area(key="_lines").set_value(OWN).run()
    read(at)
    at.selectbox(key="_averaged").set_value("Function words").run()
    at.segmented_control(key="sinks").set_value("Kept").run()
    highest = function_words([sample(line) for line in OWN.splitlines() if line]).max()
    assert f"**{highest:.2f}** times" in words(at)
    go(at, "radar")
    go(at, "many-sentences")
    assert at.text_area(key="_lines").value == OWN  # kept while another step was on screen
    at.text_area(key="_lines").set_value("One line.\n" * 201).run()
    assert "first 200 of 201 lines" in words(at)


def test_a_survey_that_was_stopped_goes_on() -> None:
    at = open_step("many-sentences", source="Your own")
    lines = "First here.\nSecond there.\nThird one."
    at.text_area(key="_lines").set_value(lines).run()
    survey = head_survey(cached_model(), tuple(lines.split("\n")), True)
    survey.step(cached_model(), tagged, untrained_twin(cached_model()))
    at.run()
    assert "1 of 3 sentences are read" in words(at)
    assert "Go on: 1 of 3 sentences are read" in [button.label for button in at.main.button]
    read(at)
    assert survey.finished and "1 of 3" not in words(at)


def cached_model() -> lab.LoadedModel:
    return runs.model(DEFAULT_MODEL)


@pytest.fixture
def no_pipeline(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def fail() -> pipeline.Pipeline:
        raise pipeline.PipelineUnavailable("The spaCy pipeline en_lab cannot be loaded: gone. Restore the folder.")

    def clear() -> None:
        pipeline._once.cache_clear()
        runs._load_tagger.clear()
        runs._small_run.clear()  # with it goes what was read off the runs

    monkeypatch.setattr(pipeline, "load_pipeline", fail)
    clear()
    yield
    clear()


@pytest.mark.usefixtures("no_pipeline")
def test_without_a_pipeline_the_patterns_still_work() -> None:
    at = visit(PAGE, text=TEXT)
    assert tuple(walk(at)) == STEPS
    assert "Restore the folder" in words(go(at, "radar"))
    assert "is **" in words(unfold(go(at, "named-patterns"), "_own_scores"))
    assert "tagger is not available" in words(go(at, "many-sentences"))


def test_checks_are_three_at_least() -> None:
    check_answers(open_step("check", layer="2", head="3"))


def test_each_card_says_what_attention_atlas_calls_its_metric() -> None:
    said = words(unfold(open_step("radar", sinks="Kept"), "_formulas"))
    names = ("Syntax Focus", "Semantics Focus", "CLS Focus", "Punctuation Focus", "Entities Focus")
    assert all(f"Also called “{name}”" in said for name in (*names, "Long-Range Attention", "Self-Attention"))
