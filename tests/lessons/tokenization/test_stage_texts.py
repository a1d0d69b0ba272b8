"""What the tokenization lesson says about one word or one token is so."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from tokenizers import Tokenizer
from transformers import AutoTokenizer

from lab.course.words import quoted
from lab.lessons.tokenization.stage_texts import STAGES, about_lookup, about_merge, about_uncut, special_tokens
from lab.models.encoding import encode
from lab.models.loading import EMBEDDED, load_model
from lab.text.tokenizers.bpe import BpeWord, bpe_steps
from lab.text.tokenizers.wordpiece import StageName, WordSteps, wordpiece_steps
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint

BERT = Tokenizer.from_file(str(EMBEDDED / "lab-bert" / "tokenizer.json"))
LIMIT = 100


@pytest.fixture(scope="module")
def gpt2(tiny_checkpoint: TinyCheckpoint) -> Tokenizer:
    return Tokenizer.from_file(str(tiny_checkpoint("gpt2") / "tokenizer.json"))


def cut(text: str) -> WordSteps:
    return wordpiece_steps(BERT, text).words[0]


def merged(tokenizer: Tokenizer, text: str) -> BpeWord:
    return bpe_steps(tokenizer, text).words[0]


def said(word: WordSteps) -> list[str]:
    return [about_lookup(word, word.lookups, at) for at in range(len(word.lookups))]


def test_every_stage_has_words() -> None:
    assert set(STAGES) == set(StageName.__args__)  # type: ignore[attr-defined]


def test_each_lookup_says_what_follows() -> None:
    told = said(cut("photographers"))
    assert told[0].endswith("not in the vocabulary. The next candidate is one character shorter.")
    assert told[3].startswith(f"{quoted('photograph')} is in the vocabulary. {quoted('ers')} is left")
    assert told[4].endswith(f"Its tokens are {quoted('photograph · ##ers')}.")


def test_an_unknown_word_loses_the_pieces_it_had() -> None:
    assert said(cut("happy☃"))[-1].endswith(f"becomes {quoted('[UNK]')}. The piece already found is dropped.")
    assert said(cut("☃"))[-1].endswith(f"there is nothing shorter. So the whole word becomes {quoted('[UNK]')}.")


def test_words_that_are_not_cut_say_why(gpt2: Tokenizer) -> None:
    assert "150 characters, but this tokenizer looks at no more than 100" in (about_uncut(cut("x" * 150), LIMIT) or "")
    assert "added token with the id 4" in (about_uncut(cut("[MASK]"), LIMIT) or "")
    assert about_uncut(cut("photographers"), LIMIT) is None
    assert "single byte" in (about_uncut(merged(gpt2, "x"), 0) or "")
    assert "every byte stays a token" in (about_uncut(merged(gpt2, "☃"), 0) or "")
    assert about_uncut(merged(gpt2, "The"), 0) is None


def test_the_last_merge_says_why_it_was_the_last(gpt2: Tokenizer) -> None:
    the, sat = merged(gpt2, "The"), merged(gpt2, "sat")
    assert about_merge(the, 0) == f"{quoted('h')} + {quoted('e')} has the lowest rank of all neighbours, 0."
    assert "One piece is left" in about_merge(the, len(the.merges) - 1)
    assert "No two neighbours" in about_merge(sat, len(sat.merges) - 1)


def test_special_tokens_in_the_order_in_which_they_stand() -> None:
    encoding = encode(BERT, SimpleNamespace(max_tokens=512), "The [MASK] sat.", "It sat.")  # type: ignore[arg-type]
    found = [(each.token, each.positions) for each in special_tokens(load_model("lab-bert"), encoding)]
    assert found == [("[CLS]", (1,)), ("[MASK]", (3,)), ("[SEP]", (6, 10)), ("[PAD]", ()), ("[UNK]", ())]


@pytest.mark.parametrize("family", ["bert", "roberta", "gpt2", "modernbert"])
@pytest.mark.parametrize("renamed", [False, True])
def test_each_special_token_has_its_role(
    family: Family, renamed: bool, tiny_checkpoint: TinyCheckpoint, tmp_path: Path
) -> None:
    """By the tokenizer's settings, whatever its name is."""
    folder = Path(shutil.copytree(tiny_checkpoint(family), tmp_path / family))
    if renamed:
        for path in (folder / "tokenizer.json", folder / "tokenizer_config.json"):
            path.write_text(
                re.sub(r'"(\[|<\|?)(CLS|SEP|MASK|PAD|UNK|s|/s|mask|pad|unk)(\]|\|?>)"', r'"(\2)"', path.read_text())
            )
    theirs = AutoTokenizer.from_pretrained(folder)
    model = load_model(folder)
    told = {each.token: each.role for each in special_tokens(model, encode(model.tokenizer, model.config, "The cat"))}
    assert set(theirs.all_special_tokens) <= told.keys()
    if family == "gpt2":
        assert "separated" in told[theirs.eos_token]
        return
    said = {"mask": "hides", "pad": "fills up", "unk": "replaces", "cls": "beginning", "sep": "ends each"}
    assert all(fragment in told[getattr(theirs, f"{role}_token")] for role, fragment in said.items())
