"""The deeper steps of the masked-language-model lesson: their numbers against Hugging Face's own models."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file
from streamlit.testing.v1 import AppTest
from torch import Tensor

import lab
from lab.analysis.words import likelihood
from lab.analysis.words.predictions import word_of
from lab.course.sentences.examples import FOLLOWING
from lab.course.words import quoted
from lab.figures.choices import FITTED, PLAIN
from lab.lessons.masked_language_model.figures import lens_agreement
from lab.models.catalogue import DEFAULT_MODEL, EMBEDDED
from lab.models.fitted_lens import FOLDER, MAPS, RECORD
from lab.models.interventions import Interventions
from lab.models.loading import LoadedModel
from lab.models.reference import reference
from lab.ui import runs
from tests.checkpoints import LAYERS
from tests.conftest import TinyCheckpoint
from tests.lenses import put_lens
from tests.pages.apptest import Offer, click_token, looks, reveal, sentence_of, unfold, visit, words, worked
from tests.sentences import CAT, FOLLOWS

PAGE = "9_Masked_language_model.py"
LONG = f"{CAT} " * 5


GRID, LIMITS = "_lens_tokens", "_lens_limits"  # folds


def open_step(step: str, **params: str) -> AppTest:
    return reveal(visit(PAGE, step=step, **{"text": CAT, **params}))


def specification(at: AppTest, chart: int) -> dict[str, Any]:
    spec: dict[str, Any] = json.loads(at.get("vega_lite_chart")[chart].proto.spec)
    return spec


def tables(at: AppTest) -> list[pd.DataFrame]:
    """The tables of the step, without that of the proof."""
    return [frame.value for frame in at.dataframe if "passed" not in frame.value.columns]


def cells(at: AppTest) -> list[str]:
    (texts,) = (each["value"] for each in specification(at, 0)["params"] if each["name"] == "cell_texts")
    return list(texts)


@torch.inference_mode()
def theirs(model: LoadedModel, ids: list[int], **options: Any) -> Any:
    """What Hugging Face's module of this checkpoint gives for these ids."""
    return reference(model)(torch.tensor([ids]), **options)


def id_of(model: LoadedModel, token: str) -> int:
    found = model.tokenizer.token_to_id(token)
    assert found is not None
    return found


def scores(model: LoadedModel, ids: list[int]) -> list[float]:
    """log P of each token: hidden in turn, or from those before it."""
    if model.config.causal:
        logs = theirs(model, ids).logits[0].double().log_softmax(-1)
        return [float(logs[i - 1, ids[i]]) for i in range(1, len(ids))]
    mask = id_of(model, "[MASK]")
    found = []
    for i in range(1, len(ids) - 1):
        logits = theirs(model, [*ids[:i], mask, *ids[i + 1 :]]).prediction_logits[0, i]
        found.append(float(logits.double().log_softmax(-1)[ids[i]]))
    return found


@pytest.mark.parametrize("name", [DEFAULT_MODEL, "lab-gpt2"])
def test_the_likelihood_on_screen_is_the_sum_of_their_log_probabilities(name: str) -> None:
    model = lab.load_model(name)
    ids = list(lab.trace(model, CAT).token_ids)
    logs = scores(model, ids)
    at = unfold(open_step("likelihood", model=name), "_sum_of_logs", "_scores")
    total, mean, perplexity = (float(metric.value.replace(",", "").replace("−", "-")) for metric in at.metric)
    assert total == pytest.approx(sum(logs), abs=0.006)
    assert mean == pytest.approx(sum(logs) / len(logs), abs=0.0006)
    assert perplexity == pytest.approx(math.exp(-sum(logs) / len(logs)), abs=0.06, rel=1e-4)
    assert f"/ {len(logs)}" in at.latex[0].value
    (table,) = tables(at)
    assert table["ln P"].tolist() == pytest.approx(logs, abs=1e-3)
    assert table["rank"].min() >= 1
    assert ("pseudo-perplexity" in at.latex[0].value) == (name == DEFAULT_MODEL)


def test_a_long_text_is_scored_only_when_asked() -> None:
    at = visit(PAGE, step="likelihood", text=LONG)
    assert not at.metric
    count = len(lab.trace(lab.load_model(DEFAULT_MODEL), LONG)) - 2
    assert [button.label for button in at.main.button if "tokens" in button.label] == [f"Score {count} tokens"]
    traced = runs.run(DEFAULT_MODEL, LONG, "", Interventions())
    scoring = likelihood.scoring(traced)
    scoring.step(traced)
    assert scoring.latest is not None
    done = len(scoring.latest.scores)
    assert 0 < done < count
    at.run()
    reveal(unfold(at, "_sum_of_logs"))
    assert f"So far, the lab has scored the first {done} of {count} tokens" in words(at)
    assert at.metric[1].label == f"Mean of {done} tokens, nats"
    label = f"Go on: {done} of {count} tokens are scored"
    next(button for button in at.main.button if button.label == label).click().run()
    reveal(worked(at))
    assert scoring.finished
    assert "So far, " not in words(at)
    assert at.metric[1].label == f"Mean of {count} tokens, nats"
    assert scoring.latest.total == pytest.approx(sum(scores(traced.model, list(traced.token_ids))), abs=1e-2)


@pytest.mark.parametrize(("name", "text"), [(DEFAULT_MODEL, "[MASK]"), ("lab-gpt2", "a")])
def test_nothing_to_score_gets_a_sentence(name: str, text: str) -> None:
    at = open_step("likelihood", model=name, text=text)
    assert "no token to score" in words(at)
    assert not at.metric


def hidden_states(model: LoadedModel, ids: list[int], read_with: str = PLAIN) -> list[Tensor]:
    """(n, vocabulary) of each layer: their head on their hidden state, or on what the maps that ship make of it."""
    states = theirs(model, ids, output_hidden_states=True).hidden_states
    if read_with == FITTED:
        maps = load_file(EMBEDDED / model.id / FOLDER / MAPS)
        through = zip(states[:-1], maps["w"].float(), maps["b"].float(), strict=True)
        states = [*(x @ w + b for x, w, b in through), states[-1]]
    module: Any = reference(model)
    with torch.inference_mode():
        if model.config.causal:  # theirs has put the last one through the final LayerNorm already
            normed = [*(module.transformer.ln_f(x) for x in states[:-1]), states[-1]]
            return [module.lm_head(x)[0] for x in normed]
        return [module.cls.predictions(x)[0] for x in states]


@pytest.mark.parametrize("read_with", [FITTED, PLAIN])
@pytest.mark.parametrize("name", [DEFAULT_MODEL, "lab-gpt2"])
def test_the_lens_reads_what_their_head_reads(name: str, read_with: str) -> None:
    model = lab.load_model(name)
    ids = list(lab.trace(model, CAT).token_ids)
    asked = 10
    seen = ids if model.config.causal else [*ids[:asked], id_of(model, "[MASK]"), *ids[asked + 1 :]]
    rows = hidden_states(model, seen, read_with)
    params = {"lens_tokens": "4", "first_token": "8", "place": "11", "masked": "11", "read_with": read_with}
    at = unfold(open_step("logit-lens", model=name, **params), GRID, LIMITS)
    places = range(7, 11)
    best = [word_of(model.tokenizer, int(row[place].argmax())) for row in rows for place in places]
    assert cells(at) == [word if word else "(empty)" for word in best]
    assert "best probabilities of this row and of the output are the same." in words(at)
    at.segmented_control(key="lens").set_value("Rank of the true one").run()
    truths = [ids[place + 1] if model.config.causal and place + 1 < len(ids) else ids[place] for place in places]
    known = [not model.config.causal or place + 1 < len(ids) for place in places]
    ranks = [
        f"{1 + int((row[place] > row[place, truth]).sum()):,}" if there else "?"
        for row in rows
        for place, truth, there in zip(places, truths, known, strict=True)
    ]
    assert cells(at) == ranks


def test_the_fitted_lens_is_what_one_sees_first_and_the_plain_one_is_a_choice() -> None:
    at = unfold(open_step("logit-lens"), GRID)
    assert at.segmented_control(key="read_with").value == FITTED
    fitted = cells(at)
    assert "first turns each vector into a guess" in words(at)
    at.segmented_control(key="read_with").set_value(PLAIN).run()
    assert not at.exception and cells(at) != fitted
    assert "first turns each vector into a guess" not in words(at)


def test_the_agreement_on_screen_is_what_was_measured() -> None:
    at = unfold(open_step("logit-lens", model="lab-bert"), LIMITS)
    record = json.loads((EMBEDDED / "lab-bert" / FOLDER / RECORD).read_text("utf-8"))["held_out"]
    said = at.get("vega_lite_chart")[0].proto.alt
    assert all(f"“{name}”" in said for name in ("fitted lens", "plain lens", "untrained twin"))
    shown = lens_agreement(lab.trace(lab.load_model("lab-bert"), CAT)).table()
    for name, kind in (("fitted lens", "fitted"), ("plain lens", "plain"), ("untrained twin", "untrained")):
        assert shown[name].tolist() == pytest.approx(record[kind]["agreement"], abs=1e-6)
    assert f"{record['places']:,} hidden words" in words(at)


def test_a_model_without_a_fitted_lens_is_read_with_the_plain_one(offer: Offer) -> None:
    at = unfold(open_step("logit-lens", model=offer("bert"), read_with=FITTED), GRID, LIMITS)
    assert not at.warning
    assert "read_with" not in {each.key for each in at.segmented_control}
    assert len(cells(at)) % (LAYERS + 1) == 0 and cells(at)
    assert len(at.get("vega_lite_chart")) == 2


def test_a_damaged_lens_ends_in_a_sentence_and_the_plain_one_reads(
    tiny_checkpoint: TinyCheckpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = put_lens(Path(shutil.copytree(tiny_checkpoint("bert"), tmp_path / "mine")))
    (folder / FOLDER / MAPS).write_bytes(b"nothing")
    monkeypatch.setenv("LAB_MODELS", str(folder))
    at = unfold(open_step("logit-lens", model="mine"), GRID)
    assert "is damaged" in at.warning[0].value and "plain lens instead" in at.warning[0].value
    assert cells(at) and "read_with" not in {each.key for each in at.segmented_control}


def test_a_click_shows_the_cell_in_full() -> None:
    at = unfold(open_step("logit-lens"), GRID)
    at.session_state["lens-grid"] = {"selection": {"cell": [{"q": 1, "k": 2}]}}
    at.run()
    assert not at.exception
    assert [at.selectbox(key="_lens_layer").value, at.selectbox(key="_lens_column").value] == [1, 2]
    at.selectbox(key="_lens_layer").set_value(0).run()
    assert not at.exception
    assert "read after the embeddings" in json.dumps(specification(at, 1))


def test_a_long_text_is_seen_through_a_small_window(offer: Offer) -> None:
    at = visit(PAGE, model=offer("bert"), step="logit-lens", text="word " * 600, lens_tokens="16", first_token="9999")
    assert "cannot start at token 9999" in words(unfold(at, GRID))
    assert len(cells(at)) == 16 * (LAYERS + 1)
    assert len(at.get("vega_lite_chart")[0].proto.SerializeToString()) < 100_000


def test_both_orders_of_a_pair_are_their_probabilities() -> None:
    model = lab.load_model(DEFAULT_MODEL)
    expected, logits = [], []
    for first, second in (FOLLOWS, FOLLOWS[::-1]):
        read = lab.trace(model, first, second)
        segments = torch.tensor([read.segment_ids])
        scored = theirs(model, list(read.token_ids), token_type_ids=segments).seq_relationship_logits[0]
        expected.append(scored.double().softmax(0)[0].item())
        logits.append(scored.tolist())
    at = unfold(open_step("next-sentence", text=FOLLOWS[0], pair=FOLLOWS[1]), "_pair_logits")
    (table,) = tables(at)
    assert table["P(follows)"].tolist() == pytest.approx(expected, abs=1e-5)
    assert table.iloc[:, 1:3].to_numpy() == pytest.approx(np.array(logits), abs=1e-4)
    assert f"{logits[0][1]:.3f}" in at.latex[0].value
    at.button(key="_pair.swap").click().run()
    reveal(at)
    assert (at.text_area(key="text").value, at.text_input(key="pair").value) == FOLLOWS[::-1]
    assert tables(at)[0]["P(follows)"].tolist() == pytest.approx(expected[::-1], abs=1e-5)


def test_without_a_pair_the_step_opens_on_an_example_that_is_called_so() -> None:
    model = lab.load_model(DEFAULT_MODEL)
    read = lab.trace(model, *FOLLOWING[0])
    scored = theirs(model, list(read.token_ids), token_type_ids=torch.tensor([read.segment_ids]))
    expected = scored.seq_relationship_logits[0].double().softmax(0)[0].item()
    at = unfold(open_step("next-sentence"), "_pair_logits")
    assert at.info[0].value.startswith("This is **an example pair**")
    assert tables(at)[0]["P(follows)"].iloc[0] == pytest.approx(expected, abs=1e-5)
    assert (at.text_area(key="text").value, at.text_input(key="pair").value) == (CAT, "")  # theirs stays theirs
    at.text_input(key="pair").set_value(FOLLOWS[1]).run()
    assert "**an example pair**" not in words(at) and f"B: {quoted(FOLLOWS[1])}" in words(at)


def test_after_a_final_full_stop_nothing_is_asked_before_anybody_chose() -> None:
    model = lab.load_model("lab-gpt2")
    read = lab.trace(model, CAT)
    assert read.tokens[-2:] == ("Ġtired", ".")
    for step in ("next-token", "writing-on"):
        at = unfold(open_step(step, model="lab-gpt2"), "_removed")
        assert looks(at)[0] == len(read) - 3
        assert "inside your text, before its last whole word" in words(at)
    expected = theirs(model, list(read.token_ids)).logits[0, -3].double().softmax(0)
    _, left = tables(at)
    assert left["probability they hold"].iloc[1] == pytest.approx(float(expected.topk(50).values.sum()), abs=1e-5)
    click_token(at, len(read) - 1)
    assert "inside your text" not in words(reveal(at))
    unfinished = open_step("next-token", model="lab-gpt2", text="The cat sat on the")
    assert looks(unfinished)[0] == 4 and "inside your text" not in words(unfinished)


def test_without_a_head_or_training_a_sentence_says_so(offer: Offer) -> None:
    assert "no next-sentence head" in words(open_step("next-sentence", model="lab-gpt2", pair=FOLLOWS[1]))
    assert "no next-sentence head" in words(open_step("next-sentence", model=offer("distilbert"), pair=FOLLOWS[1]))
    assert "weights are random" in words(open_step("next-sentence", pair=FOLLOWS[1], weights="Random"))


def test_the_draw_on_screen_is_the_naive_draw() -> None:
    model = lab.load_model("lab-gpt2")
    ids = list(lab.trace(model, "The cat sat on the").token_ids)
    params = {"text": "The cat sat on the", "temperature": "0.5", "top_k": "20", "top_p": "0.8", "draw_seed": "7"}
    at = unfold(open_step("writing-on", model="lab-gpt2", **params), "_removed")
    shares = (theirs(model, ids).logits[0, -1].double() / 0.5).softmax(0)
    best, order = shares.sort(descending=True)
    best = best[:20]
    kept = 1 + int(((best / best.sum()).cumsum(0) < 0.8).sum())
    table, left = tables(at)
    assert left["tokens left"].tolist() == [model.config.vocabulary, 20, kept]
    assert left["probability they hold"].tolist() == pytest.approx(
        [1.0, float(best.sum()), float(best[:kept].sum())], abs=1e-5
    )
    number = np.random.default_rng(7).random()
    ends = (best[:kept] / best[:kept].sum()).cumsum(0)
    drawn = word_of(model.tokenizer, int(order[int((ends <= number).sum())]))
    assert f"**{number:.4f}**" in words(at)
    assert f"\u2068{drawn}\u2069” reaches from" in words(at).replace("\\", "")
    parts = [float(best[rank - 1] / best[:kept].sum()) if rank <= kept else 0.0 for rank in table["rank"]]
    assert table["share"].tolist() == pytest.approx(parts, abs=1e-5)
    assert {kept, kept + 1, 20, 21} < set(table["rank"])
    assert (table["top-k"] == "kept").tolist() == [rank <= 20 for rank in table["rank"]]


def test_a_continuation_of_the_best_tokens_is_their_greedy_one() -> None:
    model = lab.load_model("lab-gpt2")
    ids = list(lab.trace(model, "The cat sat on the").token_ids)
    at = open_step("writing-on", model="lab-gpt2", text="The cat sat on the", top_k="1", draw_seed="3")
    at.button(key="_next_token").click().run()
    at.button(key="_ten_more").click().run()
    assert not at.exception
    grown, end = list(ids), model.tokenizer.token_to_id("<|endoftext|>")
    while len(grown) < len(ids) + 11 and grown[-1] != end:
        grown.append(int(theirs(model, grown).logits[0, -1].argmax()))
    expected = model.tokenizer.decode(grown[len(ids) :], skip_special_tokens=False).strip()
    assert expected in words(at).replace("\\", "")
    at.button(key="_next_seed").click().run()
    assert at.number_input(key="draw_seed").value == 4
    assert expected not in words(at).replace("\\", "")  # other draws begin again


def test_a_model_that_fills_blanks_leaves_the_writing_to_the_labs_gpt2() -> None:
    """It reads the learner's text up to its last whole word, or up to a blank that was typed."""
    for text, before in ((CAT, CAT.removesuffix(" tired.")), ("The king and the [MASK] lived.", "The king and the")):
        at = open_step("writing-on", text=text)
        run = lab.trace(lab.load_model("lab-gpt2"), before)
        header, _ = sentence_of(at)
        assert header["read"] == len(run) and looks(at)[0] == len(run) - 1
        assert "lab\\-gpt2\u2069” writes" in words(at) and at.session_state["text"] == text
        best = theirs(run.model, list(run.token_ids)).logits[0, -1].argmax()
        assert f"\u2068{word_of(run.model.tokenizer, int(best))}\u2069” goes from" in words(at).replace("\\", "")


def test_a_full_text_has_no_room_and_says_so(offer: Offer) -> None:
    at = open_step("writing-on", model=offer("gpt2"), text="word " * 600)
    assert "The text ends here" in words(at)


def test_settings_that_cannot_be_are_said() -> None:
    at = visit(PAGE, step="writing-on", model="lab-gpt2", top_k="7", top_p="2", draw_seed="-1")
    for name in ("top_k", "top_p", "draw_seed"):
        assert f"{name} must be" in words(at)
    assert at.selectbox(key="top_k").value == "50"
