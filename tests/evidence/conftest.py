"""Fixtures of the experiments' tests: the tiny checkpoints that predict words."""

from __future__ import annotations

from typing import cast

import pytest

from lab.models.loading import LoadedModel, load_model
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint
from tests.models.reference import Theirs, load_theirs

# ELECTRA's discriminator and BERT without its head predict no words.
WITH_WORDS: tuple[Family, ...] = ("bert", "distilbert", "roberta", "gpt2", "modernbert")


@pytest.fixture(scope="module", params=WITH_WORDS)
def family(request: pytest.FixtureRequest) -> Family:
    return cast("Family", request.param)


@pytest.fixture(scope="module")
def tiny(tiny_checkpoint: TinyCheckpoint, family: Family) -> LoadedModel:
    return load_model(tiny_checkpoint(family))


@pytest.fixture(scope="module")
def theirs(tiny_checkpoint: TinyCheckpoint, family: Family) -> Theirs:
    return load_theirs(tiny_checkpoint(family), family)
