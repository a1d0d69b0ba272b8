"""A head is chosen by what it does: at once for the models that ship, after a measurement for any other."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from lab.evidence.notable import in_folder
from lab.models.catalogue import DEFAULT_MODEL, EMBEDDED
from tests.pages.apptest import Offer, visit, words, worked

MENU, FIND = "By what it does", "Find what each head does"


def menus(at: AppTest) -> list[str]:
    return [menu.label for menu in at.sidebar.selectbox]


def buttons(at: AppTest) -> list[str]:
    return [button.label for button in at.sidebar.button]


@pytest.mark.parametrize("page", ["3_Self-attention.py", "51_Model_view.py"])
def test_a_job_leads_to_its_head(page: str) -> None:
    at = visit(page, model="lab-gpt2", layer="1", head="2", **({"step": "map"} if "Self" in page else {}))
    known = [(each, doing) for each in in_folder(EMBEDDED / "lab-gpt2") or () for doing in each.heads]
    menu = at.sidebar.selectbox(key="_job")
    assert menu.value is None and len(menu.options) == len(known)
    place = next(i for i, (each, _) in enumerate(known) if each.job.id == "induction")
    each, doing = known[place]
    assert menu.options[place] == f"{each.job.does} · {doing.layer + 1}-{doing.head + 1}"
    menu.select_index(place).run()
    assert (at.selectbox(key="layer").value, at.selectbox(key="head").value) == (doing.layer + 1, doing.head + 1)
    assert f"score is {doing.score:.2f} of 1; a uniform head scores {each.chance:.2f}." in words(at)


def test_a_head_without_a_job_after_one_with_one() -> None:
    known = (in_folder(EMBEDDED / DEFAULT_MODEL) or ())[0].heads[0]
    at = visit("3_Self-attention.py", step="map", layer=str(known.layer + 1), head=str(known.head + 1))
    job = at.sidebar.selectbox(key="_job").value
    assert job is not None
    assert ":" in job[0].job.id
    assert f"Right in {100 * job[1].score:.0f} of 100 cases" in words(at)
    assert "Lesson 6 compares it with simple rules." in words(at)
    busy = {(doing.layer, doing.head) for each in in_folder(EMBEDDED / DEFAULT_MODEL) or () for doing in each.heads}
    idle = next(head for head in range(12) if (known.layer, head) not in busy)
    at.selectbox(key="head").select(idle + 1).run()
    assert at.sidebar.selectbox(key="_job").value is None


def test_any_other_model_is_measured_when_asked(offer: Offer) -> None:
    at = visit("3_Self-attention.py", step="map", model=offer("bert"))
    assert MENU not in menus(at)
    next(button for button in at.sidebar.button if button.label == FIND).click().run()
    worked(at)
    assert MENU in menus(at) or "No head of this model does a known job" in words(at)
    assert FIND not in buttons(at)


@pytest.mark.parametrize("params", [{"weights": "Random"}, {"mode": "Toy"}])
def test_random_weights_and_toys_have_no_jobs(params: dict[str, str]) -> None:
    at = visit("3_Self-attention.py", step="map", **params)
    assert MENU not in menus(at) and FIND not in buttons(at)
