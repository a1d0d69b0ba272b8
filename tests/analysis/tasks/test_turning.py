"""The tokens on which a classifier's answer turns, by numbers written by hand."""

from __future__ import annotations

import numpy as np
import pytest

from lab.analysis.tasks.few_examples import Turning


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_matters_speaks_for_the_answer_whichever_it_is(sign: float) -> None:
    """Without token 2 the answer is least sure; without token 3 it is surer; without token 5 it is the other one."""
    found = Turning(2.0 * sign, (1, 2, 3), sign * np.array([1.9, 0.5, 4.0]), np.array([0.1, 0.2, 0.7]))
    assert found.matters == 2 and found.turns == () and found.looked_at == 3
    turned = Turning(2.0 * sign, (4, 5), sign * np.array([1.0, -0.1]), np.array([0.6, 0.4]))
    assert turned.matters == 5 and turned.turns == (5,) and turned.looked_at == 4
