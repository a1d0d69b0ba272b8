"""Each token hidden in turn beside one batch of all masks with the whole vocabulary for every place.

The second is what one writes first: n copies of the text, each with one mask, through Hugging Face's own model. It
holds n × n × vocabulary logits: for 512 tokens and BERT's vocabulary 32 GB.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import torch
from transformers import AutoModelForMaskedLM, PreTrainedModel
from transformers.utils import logging

from benchmarks.measure import Comparison, time_ratio
from lab.analysis.words.text_likelihood import likelihood, scored_places
from lab.models.catalogue import DEFAULT_MODEL, EMBEDDED
from lab.models.encoding import Encoding, encode
from lab.models.loading import LoadedModel, load_model

LENGTHS = (32, 128)
ROUNDS = {32: 5, 128: 1}


def one_by_one(model: LoadedModel, encoding: Encoding) -> float:
    """The pseudo-log-likelihood in nats, as the lab computes it."""
    *_, found = likelihood(model, encoding)
    return found.total


def all_at_once(theirs: PreTrainedModel, mask: int, encoding: Encoding, places: list[int]) -> float:
    """The same from one batch of as many copies as there are places."""
    ids = torch.tensor([encoding.token_ids])
    copies, rows = ids.repeat(len(places), 1), torch.arange(len(places))
    copies[rows, places] = mask
    with torch.inference_mode():
        scores = theirs(copies).logits.log_softmax(-1)
    return float(scores[rows, places, ids[0, places]].sum())


def comparisons() -> Iterator[Comparison]:
    """The comparison at each length. Raises AssertionError where the two log-likelihoods differ."""
    torch.set_num_threads(1)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    model = load_model(DEFAULT_MODEL)
    theirs = AutoModelForMaskedLM.from_pretrained(EMBEDDED / DEFAULT_MODEL).eval()
    mask = model.mask
    assert mask is not None
    for tokens in LENGTHS:
        encoding = encode(model.tokenizer, model.config, "the " * (tokens - 2))
        places = list(scored_places(model, encoding))
        jobs = partial(one_by_one, model, encoding), partial(all_at_once, theirs, mask[1], encoding, places)
        np.testing.assert_allclose(jobs[0](), jobs[1](), rtol=1e-3)
        measure = partial(time_ratio, *jobs, ROUNDS[tokens])
        yield Comparison("pseudo-log-likelihood / all masks at once, time", tokens, 1.0, measure)
