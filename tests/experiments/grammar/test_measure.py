"""The experiment's rows beside the paper's method, written from its words; and what ships is true of what ships."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from transformers import BertForPreTraining

from lab.evidence import shipped
from lab.evidence.relation_cases import Cases, find_cases
from lab.evidence.tables import from_tables, to_tables
from lab.evidence.treebank import ewt, gum, halves
from lab.evidence.verdicts import CLARK, FEW, HOLDS, Verdict, lift
from lab.evidence.word_kinds import Tags, tags_of
from lab.experiments.grammar import measure
from lab.experiments.grammar.measure import (
    GrammarTest,
    Named,
    compared,
    data_hash,
    known,
    replicate,
)
from lab.experiments.grammar.page import line, why_of
from lab.models.catalogue import CATALOGUE, ships
from lab.models.jobs import Stopped
from lab.models.loading import LoadedModel, load_model
from lab.models.twin import untrained_twin
from tests.checkpoints import write_checkpoint
from tests.evidence import clark

SHIPPED = [entry.id for entry in CATALOGUE if ships(entry)]
A, B = ([s for s in half.sentences if 5 < len(s.words) < 25][:40] for half in halves())
ALONE = list(range(40))  # each sentence a document of its own


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return load_model(write_checkpoint(tmp_path_factory.mktemp("m") / "bert", "bert", seed=3))


@pytest.fixture(scope="module")
def found(bert: LoadedModel) -> GrammarTest:
    own, twin = (find_cases(model, A + B) for model in (bert, untrained_twin(bert)))
    named = Named(own, twin, tags_of(A + B))
    return compared(named, len(A), ALONE, (named, [*ALONE, *ALONE]))


def test_rows_beside_the_paper_s_method(bert: LoadedModel, found: GrammarTest) -> None:
    """The best head of A by Hugging Face's attentions, and its accuracy on B; the offset likewise."""
    reference = BertForPreTraining.from_pretrained(cast("Path", bert.source), attn_implementation="eager").eval()
    on_a, on_b = (clark.measure(reference, bert.tokenizer, half) for half in (A, B))
    assert {row.relation for row in found.rows} == {p.relation for p in CLARK} & set(on_a) & set(on_b)
    for row in found.rows:
        best, there = on_a[row.relation], on_b[row.relation]
        assert (row.count_a, row.count) == (best.count, there.count)
        assert row.on_a == best.accuracy.max() == best.accuracy[row.end, row.layer, row.head]
        assert row.accuracy == there.accuracy[row.end, row.layer, row.head]
        distances = [
            (arc.head - arc.dependent)
            for half in (A, B)
            for s in half
            for arc in clark.arcs(s)
            if arc.relation == row.relation
        ]
        a, b = distances[: row.count_a], distances[row.count_a :]
        assert a.count(row.offset) == max(a.count(d) for d in range(-5, 6) if d)
        assert row.offset_right == b.count(row.offset)
        if row.offset_right < row.count:
            assert row.lift == pytest.approx((row.accuracy - row.offset_accuracy) / (1 - row.offset_accuracy))


def test_cases_say_what_the_head_names(bert: LoadedModel, found: GrammarTest) -> None:
    for row in found.rows:
        cases = found.cases[row.relation]
        sought = cases[:, 2 if row.end == 0 else 1]
        assert len(cases) == row.count and (cases[:, 3] == sought).sum() == row.right
        sentence, dependent, head, _ = cases[0]
        assert B[sentence].heads[dependent] == head + 1 and B[sentence].relations[dependent] == row.relation


@pytest.mark.usefixtures("few_draws")
def test_random_weights_have_no_head_above_the_offset() -> None:
    """Of a model with random weights no relation passes, for two models and two seeds; slow tests may sample more."""
    for model_id, seed in (("lab-bert", 7), ("lab-gpt2", 8)):
        from lab.models.twin import random_twin

        random = random_twin(load_model(model_id), seed)
        own, twin = (find_cases(each, (*A, *B)) for each in (random, untrained_twin(random)))
        rows = compared(Named(own, twin, tags_of(A + B)), len(A), ALONE).rows
        assert rows and not [row for row in rows if row.judged.verdict in HOLDS]


def _case(relation: str, right: float, cases: int, causal: bool = False) -> Cases:
    """Two words a sentence: the head stands before its dependent, or two after it; one head of one layer."""
    sentence = np.arange(cases)
    rng = np.random.default_rng(0)
    dependent, head = np.ones(cases, int), np.where(rng.random(cases) < 0.3, 0, 3)
    named = np.full((cases, 1, 1, 2), -1, np.int16)
    named[:, 0, 0, 0] = np.where(rng.random(cases) < right, head, -1)
    return Cases(causal, (relation,) * cases, sentence, dependent, head, named)


def _named(own: Cases, twin: Cases) -> Named:
    """The cases with words of one kind, which no rule by kinds can tell apart."""
    tags = (("X",) * 4,) * len(own.sentence)
    return Named(own, twin, Tags(tags, tags))


@pytest.mark.usefixtures("few_draws")
def test_a_head_clearly_above_both_is_found_and_a_weak_one_is_not() -> None:
    """Of each case a document; the paper's lift is 0.78."""
    none, documents = _case("obj", 0.0, 400), list(range(200))
    for right, verdict in ((0.94, Verdict.SAME), (0.85, Verdict.SMALLER), (0.72, Verdict.NOT_REPRODUCED)):
        (row,) = compared(_named(_case("obj", right, 400), none), 200, documents).rows
        assert row.judged.verdict is verdict, (right, row)
    (row,) = compared(_named(_case("obj", 1.0, 400), none), 200, documents).rows
    assert row.judged.verdict is Verdict.LARGER
    strong = _case("obj", 0.94, 400)
    (row,) = compared(_named(strong, strong), 200, documents).rows
    assert row.judged.verdict is Verdict.ALSO_UNTRAINED and row.twin_lift == row.lift


def test_cases_of_one_document_are_drawn_together() -> None:
    """Twenty documents of ten cases, each wholly right or wholly wrong: as uncertain as twenty cases, not as 200."""
    case, document = _case("obj", 0.97, 400), np.repeat(np.arange(20), 10)
    named = case.named.copy()
    named[200:, 0, 0, 0] = np.where(np.isin(document, (3, 8)), -1, case.head[200:])
    clustered = replace(case, named=named)
    rows = [
        compared(_named(clustered, _case("obj", 0.0, 400)), 200, documents).rows[0]
        for documents in (document.tolist(), list(range(200)))
    ]
    assert rows[0].documents == 20 and rows[0].right == rows[1].right == 180
    widths = [row.share_high - row.share_low for row in rows]
    error = np.sqrt(0.1 * 0.9 / 20)  # of a share of 20 independent documents
    assert widths[0] == pytest.approx(2 * 1.96 * error, rel=0.2) and widths[0] > 2 * widths[1]


def test_another_treebank_is_measured_with_the_heads_that_were_chosen(found: GrammarTest) -> None:
    """Here it is A and B once more: its right cases are those of both."""
    assert [row.relation for row in found.elsewhere] == [row.relation for row in found.rows]
    for there, row in zip(found.elsewhere, found.rows, strict=True):
        assert (there.layer, there.head, there.end, there.offset) == (row.layer, row.head, row.end, row.offset)
        assert there.count == row.count_a + row.count
        assert there.right == round(row.on_a * row.count_a) + row.right


@pytest.mark.usefixtures("few_draws")
def test_what_cannot_be_tested_says_why() -> None:
    few = 2 * FEW - 2
    (row,) = compared(_named(_case("obj", 1.0, few), _case("obj", 0.0, few)), FEW - 1, list(range(FEW - 1))).rows
    assert row.judged.verdict is Verdict.NOT_TESTABLE and "too few" in line(row).cells[-1]
    documents = list(range(200))
    both = _named(_case("compound", 0.97, 400), _case("compound", 0.0, 400))
    (row,) = compared(both, 200, documents).rows
    assert row.judged.verdict is Verdict.NOT_TESTABLE and "no effect" in why_of(row)
    both = _named(_case("obj", 0.97, 400, causal=True), _case("obj", 0.0, 400))
    (row,) = compared(both, 200, documents).rows
    assert 0.5 < row.reach < 1
    blind = replace(row, reach=row.offset_accuracy)
    assert blind.judged.verdict is Verdict.NOT_TESTABLE and "only looks back" in why_of(blind)


def test_there_and_back(found: GrammarTest) -> None:
    back = from_tables(GrammarTest, to_tables(found))
    assert repr(back.rows) == repr(found.rows)  # a lift may be nan
    assert repr(back.elsewhere) == repr(found.elsewhere)
    assert all(np.array_equal(back.cases[name], each) for name, each in found.cases.items())


def test_it_tells_how_far_it_is_and_can_be_stopped(bert: LoadedModel) -> None:
    told: list[float] = []

    def stop(done: float) -> None:
        told.append(done)
        if len(told) == 3:
            raise Stopped

    with pytest.raises(Stopped):
        replicate(bert, stop)
    assert 0 < told[0] < told[1] < told[2] < 0.5


def test_lift_leaves_nothing_where_the_baseline_is_all() -> None:
    assert lift(0.943, 0.517) == pytest.approx(0.882, abs=5e-4) and np.isnan(lift(1.0, 1.0))


@pytest.mark.parametrize("model_id", SHIPPED)
def test_what_ships_is_of_these_weights_and_these_sentences(model_id: str) -> None:
    where = shipped.folder(measure.MEASUREMENT.id, model_id)
    ships = shipped.read(where, GrammarTest, shipped.model_hash(load_model(model_id)), data_hash())
    assert ships is not None, f"stale: run python -m training.evaluation.experiments grammar {model_id}"
    made = ships.made
    assert made is not None and made.command == f"python -m training.evaluation.experiments grammar {model_id}"
    assert len(made.commit.rstrip("+")) == 40 and sum(path.stat().st_size for path in where.iterdir()) < 60_000


@pytest.mark.parametrize("model_id", SHIPPED)
def test_what_ships_measured_again_on_a_part(model_id: str) -> None:
    model, b = load_model(model_id), halves()[1].sentences
    result = known(model)
    assert result is not None and len(result.rows) == len(result.elsewhere) == len(CLARK)
    chosen = range(0, len(b), 30)
    again = find_cases(model, [b[at] for at in chosen])
    for row in result.rows:
        part = again.of(row.relation)
        kept = result.cases[row.relation]
        kept = kept[kept[:, 0] % 30 == 0]
        assert np.array_equal(part.sentence * 30, kept[:, 0])
        assert np.array_equal(part.named[:, row.layer, row.head, row.end], kept[:, 3])


@pytest.mark.parametrize("model_id", SHIPPED)
def test_what_ships_counts_as_the_treebank_does(model_id: str) -> None:
    result = known(load_model(model_id))
    assert result is not None
    a, b, other = ([name for s in half.sentences for name in s.relations] for half in (*halves(), gum()))
    for row, there in zip(result.rows, result.elsewhere, strict=True):
        assert (row.count_a, row.count) == (a.count(row.relation), b.count(row.relation))
        assert there.count == other.count(row.relation) and 30 <= there.documents <= 40
        assert (result.cases[row.relation][:, 3] == result.cases[row.relation][:, 2 - row.end]).sum() == row.right
    assert len(ewt()) == sum(len(half.sentences) for half in halves())


def test_a_rule_starts_at_the_word_where_its_head_starts(found: GrammarTest) -> None:
    """From the other word, it would answer another question, and an easier one."""
    shipping = [known(load_model(model_id)) for model_id in SHIPPED]
    for result in (found, *shipping):
        assert result is not None and len(result.rows) > 5
        assert [row.rule.end for row in (*result.rows, *result.elsewhere)] == [
            row.end for row in (*result.rows, *result.elsewhere)
        ]


def test_what_a_rule_names_is_counted_word_by_word() -> None:
    """On half B, from the head's end of each relation to the first word of these kinds on one side, or the last one.

    The last one of the row that the first one begins: places one after the other.
    """
    result, sentences = known(load_model("lab-minilm")), halves()[1].sentences
    assert result is not None
    counted = dict.fromkeys((row.relation for row in result.rows), 0)
    for sentence, tags in zip(sentences, tags_of(sentences).tagger, strict=True):
        for row in result.rows:
            for dependent, (head, relation) in enumerate(zip(sentence.heads, sentence.relations, strict=True)):
                if relation != row.relation or not head:
                    continue
                start, sought = (dependent, head - 1) if row.end == 0 else (head - 1, dependent)
                way = range(start + 1, len(tags)) if row.rule_side > 0 else range(start - 1, -1, -1)
                reached = [word for word in way if tags[word] in row.rule_kinds.split()]
                row_of_words = [word for at, word in enumerate(reached) if abs(word - reached[0]) == at]
                counted[relation] += row_of_words[-1:] == [sought] if row.rule_last else reached[:1] == [sought]
    assert counted == {row.relation: row.rule_right for row in result.rows}


def test_a_stale_result_is_not_used(tmp_path: Path, found: GrammarTest) -> None:
    where = shipped.folder("grammar", "a-model", tmp_path)
    assert shipped.read(where, GrammarTest, "m", "d") is None
    shipped.write(where, found, shipped.Provenance("m", "d", "x", "c", "make"))
    back = shipped.read(where, GrammarTest, "m", "d")
    assert back is not None and len(back.rows) == len(found.rows)
    assert shipped.read(where, GrammarTest, "other", "d") is None
    assert shipped.read(where, GrammarTest, "m", "other") is None


def test_the_hash_of_a_model_is_that_of_its_content(tmp_path: Path, bert: LoadedModel) -> None:
    same, other = (write_checkpoint(tmp_path / name, "bert", seed=seed) for name, seed in (("same", 3), ("other", 4)))
    assert shipped.model_hash(bert) == shipped.model_hash(load_model(same))
    assert shipped.model_hash(bert) != shipped.model_hash(load_model(other))
    assert shipped.model_hash(untrained_twin(bert)) not in (shipped.model_hash(bert), "")
