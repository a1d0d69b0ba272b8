"""The sentence that one head decides is known again in every model, whatever its token for a hidden word is."""

from __future__ import annotations

import pytest

import lab
from lab.ui.shared.keys import is_keys
from tests.conftest import TinyCheckpoint


@pytest.mark.parametrize(("family", "mask"), [("bert", "[MASK]"), ("roberta", "<mask>")])
def test_the_sentence_is_known_again(tiny_checkpoint: TinyCheckpoint, family: str, mask: str) -> None:
    model = lab.load_model(tiny_checkpoint(family))
    assert (model.mask or ("",))[0] == mask
    assert is_keys(lab.trace(model, f"The keys to the cabinet {mask} on the table."))
    assert not is_keys(lab.trace(model, "The keys to the cabinet were on the table."))
