"""Kept files: the numbers of the run, small, closed to the network and to what a text would like to be."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import tomllib
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lab
from lab.analysis.words.masking import hide
from lab.charts.components.word_forms_picture import OnPage
from lab.charts.kept import vega
from lab.charts.kept.file import EXPECTED, About, Live, expected, written
from lab.figures.choices import PLAIN
from lab.figures.forming_word import word_forms
from lab.figures.notebook import drawing_of, keep, runs_of, size_if_large
from lab.models.stamp import compared, stamp, weights_hash
from lab.models.trace import Trace, trace_encoding
from tests.charts.payloads import unpack
from tests.charts.samples import HOSTILE, a_heatmap, every_figure
from tests.figures.kept_figures import COMPONENTS, HEAD, LAYER, QUERY, kept_figures

ROOT = Path(__file__).parents[2]
TEXT = "She gave her brother the book that he [MASK]."
NAMES = (*COMPONENTS, "chart", "radar", "sankey")
ATTACK = (
    "</script><script>alert(1)</script> <!-- \u202e مرحبا 👩\u200d👩\u200d👧 \u2028 {{ data }} {{7*7}} "
    "<img src=x onerror=alert(1)> \"'"
)


class File(HTMLParser):
    """What a browser's parser finds in a file."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.cells: list[str] = []
        self._inside: list[str] = []
        self.text = ""
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside.append(tag)
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        while self._inside and self._inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._inside[-1:] == ["script"]:
            attributes, text = self.scripts[-1]
            self.scripts[-1] = attributes, text + data
        else:
            self.text += data
            if "td" in self._inside[-2:]:
                self.cells[-1] += data

    @property
    def data(self) -> dict[str, Any]:
        """The data block."""
        (found,) = [text for attributes, text in self.scripts if attributes.get("id") == "kept"]
        loaded: dict[str, Any] = json.loads(found)
        return loaded

    def count(self, tag: str) -> int:
        return sum(each == tag for each, _ in self.tags)


@pytest.fixture(scope="module")
def trace() -> Trace:
    return lab.trace(lab.load_model("lab-minilm"), TEXT)


def file_of(trace: Trace, name: str, path: Path) -> File:
    kept_figures(trace)[name]().save(path / "x.html", run=trace)
    return File((path / "x.html").read_bytes())


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_whole_and_lets_nothing_in(trace: Trace, name: str, tmp_path: Path) -> None:
    found = file_of(trace, name, tmp_path)
    (policy,) = [at["content"] for tag, at in found.tags if at.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None and policy.startswith("default-src 'none'; ") and "unsafe-eval" not in policy
    scripts = [text for attributes, text in found.scripts if attributes.get("type") == "module"]
    digests = [base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in scripts]
    assert re.findall(r"'sha256-([^']+)'", policy) == digests
    assert len(scripts) == {"chart": 2, "radar": 0, "sankey": 0}.get(name, 1)
    assert ("html", {"lang": "en"}) in found.tags
    for tag in ("h1", "caption", "title", "footer", "noscript"):
        assert found.count(tag) >= 1, tag
    assert not [tag for tag, at in found.tags if at.get("src") or (tag == "link") or (tag == "a" and at.get("href"))]
    for said in ("lab-minilm (bert, 6 layers", weights_hash(trace.model), TEXT, "not compared", "torch 2"):
        assert said in found.text


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tokens", [12, 32])
def test_a_file_is_small(name: str, tokens: int) -> None:
    text = " ".join(["The bird [MASK]", *(["in", "the", "green", "tree"] * 8)[: tokens - 6], "."])
    read = lab.trace(lab.load_model("lab-minilm"), text)
    assert len(read) == tokens
    figure = kept_figures(read)[name]()
    drawing = drawing_of(figure, kept_figures(read)[name])
    size = len(keep(figure, kept_figures(read)[name], About(stamp=stamp([read])), figure.table()))
    assert size < EXPECTED[type(drawing)]
    assert size_if_large(figure, None, figure.table()) is None
    assert 0.5 * size < expected(drawing, figure.table()) < 1.7 * size


def test_the_size_of_a_long_text_s_file_is_said_before() -> None:
    read = lab.trace(lab.load_model("lab-minilm"), " ".join(["the cat sat on the green mat and"] * 24))
    figure = kept_figures(read)["sentence"]()
    assert size_if_large(figure, None, figure.table()) is None  # the row is a window of the text
    large = kept_figures(read)["model_view"]()
    size = len(written(large, About()))
    said = size_if_large(large, None, large.table())
    assert (said is None) == (size < EXPECTED[Live]) or abs(size - EXPECTED[Live]) < 60_000
    assert said is not None and 0.7 * size < said < 1.4 * size


@pytest.mark.parametrize("name", COMPONENTS)
def test_a_component_has_the_payload_of_the_page(trace: Trace, name: str, tmp_path: Path) -> None:
    data = file_of(trace, name, tmp_path).data
    block = base64.b64decode(data["payloads"][0])
    figure = kept_figures(trace)[name]()
    assert data["name"] == name
    on_page = (OnPage(lens=PLAIN),) if name == "word_forms" else ()
    assert block == (figure.payload if isinstance(figure.payload, bytes) else figure.payload(*on_page))


def test_the_numbers_are_those_of_the_trace(trace: Trace, tmp_path: Path) -> None:
    weights = trace.layer(LAYER).attention.numpy()
    for name in ("sentence", "chart"):
        cells = np.array([float(cell) for cell in file_of(trace, name, tmp_path).cells], np.float32)
        np.testing.assert_array_equal(cells.reshape(weights[HEAD].shape), weights[HEAD])
    _, arrays = unpack(base64.b64decode(file_of(trace, "sentence", tmp_path).data["payloads"][0]))
    np.testing.assert_array_equal(arrays["weights"], weights[HEAD])
    rows = file_of(trace, "chart", tmp_path).data["spec"]["data"]["values"]
    np.testing.assert_array_equal(np.array([row["value"] for row in rows], np.float32), weights[HEAD].ravel())
    built = np.array(file_of(trace, "row_built", tmp_path).cells, dtype=float).reshape(-1, 4).astype(np.float32)
    np.testing.assert_array_equal(built[:, 2], weights[HEAD, QUERY])
    np.testing.assert_array_equal(built[:, 0], (trace.layer(LAYER).scores.numpy())[HEAD, QUERY])
    lines = file_of(trace, "head_view", tmp_path).cells
    assert float(lines[3]) == pytest.approx(weights[HEAD].max(), rel=1e-7)
    _, arrays = unpack(base64.b64decode(file_of(trace, "head_view", tmp_path).data["payloads"][0]))
    np.testing.assert_array_equal(arrays["weights"], np.rint(weights.astype(np.float64) * 10_000))
    _, arrays = unpack(base64.b64decode(file_of(trace, "neuron_view", tmp_path).data["payloads"][0]))
    np.testing.assert_array_equal(arrays["query"], trace.layer(LAYER).query.numpy()[HEAD, QUERY])
    np.testing.assert_array_equal(arrays["keys"], trace.layer(LAYER).key.numpy()[HEAD])


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_text_stays_text(name: str, tmp_path: Path) -> None:
    read = lab.trace(lab.load_model("lab-minilm"), f"the blank [MASK] {ATTACK} the cat sat")
    plain = file_of(lab.trace(lab.load_model("lab-minilm"), TEXT), name, tmp_path)
    found = file_of(read, name, tmp_path)
    kinds = ("script", "img", "style", "noscript", "section", "svg", "a", "iframe", "title")
    if name not in ("radar", "sankey"):  # whose pictures have a title for each corner and band
        assert [found.count(kind) for kind in kinds] == [plain.count(kind) for kind in kinds]
    assert not found.count("img") and not [at for _, at in found.tags if any(each.startswith("on") for each in at)]
    assert "</script><script>alert(1)</script> <!-- ⟨202E⟩" in found.text and "{{ data }} {{7*7}}" in found.text
    assert "\u202e" not in (tmp_path / "x.html").read_text() and "\u2028" not in (tmp_path / "x.html").read_text()


@pytest.mark.parametrize("kind", list(every_figure(["a", "b"])))
def test_every_kind_of_chart_is_kept_with_hostile_labels(kind: str) -> None:
    figure = every_figure(HOSTILE)[kind]
    found = File(written(figure, About(heading=ATTACK, caption=ATTACK, meaning=[ATTACK], stamp=[(ATTACK, ATTACK)])))
    assert [found.count(each) for each in ("script", "img", "iframe")] == [3, 0, 0]
    assert found.data["spec"]["description"] == figure.alt
    rows = found.data["spec"]["data"]["values"]
    assert len(rows) == len(figure.data)
    assert [set(row) for row in rows[:1]] == [set(figure.data.columns)]
    assert found.text.count("{{7*7}}") >= 4


def test_a_link_back_is_an_address_of_the_web_or_none() -> None:
    figure = a_heatmap()
    good = File(written(figure, About(link='https://lab.example/Self-attention?text=a"b')))
    assert [at["href"] for tag, at in good.tags if tag == "a"] == ['https://lab.example/Self-attention?text=a"b']
    assert not File(written(figure, About(link="javascript:alert(1)"))).count("a")


def test_the_ways_to_cut_a_token_come_along(trace: Trace) -> None:
    call = kept_figures(trace)["word_forms"]
    assert isinstance(call, partial)
    drawing = drawing_of(call(), call)
    assert isinstance(drawing, Live)
    assert drawing == drawing_of(call(), partial(word_forms, trace, cut=call.args[2], watched=call.args[1]))
    headers = [unpack(each)[0] for each in drawing.payloads]
    assert headers[0]["cutTokens"] == unpack(call().payload())[0]["cutTokens"]
    told = {header["ways"][0]["way"] if header["ways"] else None: at for at, header in enumerate(headers)}
    assert set(told) == {"", "~", "*", None} and headers[0]["lens"] == "Plain lens"
    at = told["~"]
    assert drawing.moves[0]['["way",2,"~"]'] == at and drawing.moves[at]['["way",2,"*"]'] == told["*"]
    assert drawing.moves[0]['["token",2]'] == drawing.moves[at]['["heal"]'] == told[None]
    assert drawing.moves[told[None]]['["token",2]'] == told[""] == 0
    assert all('["token",4]' not in moves for moves in drawing.moves.values())


def test_the_stamp_names_all_runs_and_the_comparison(trace: Trace) -> None:
    twice = lab.trace(trace.model, TEXT, interventions=lab.Interventions(no_scaling=True))
    assert runs_of(partial(print, trace, [twice, (trace,)])) == [trace, twice]
    assert runs_of(partial(print, trace.model)) == [trace.model]
    proof = lab.prove(trace.model, trace)
    lines = stamp([trace, twice], {trace: proof})
    said = [value for name, value in lines if name.startswith("Compared")]
    assert said == [
        f"{len(proof.rows)} steps compared, largest difference {proof.largest_difference:.1e}",
        "not compared for this file; the lab compares at a click",
    ]
    assert ("Changed in this run", "no scaling") in lines
    assert compared(lab.prove(trace.model, twice)).startswith("differs from scaled_scores on")
    assert not [name for name, _ in lines if name.startswith("Tokens")]
    mask = trace.model.mask
    assert mask is not None
    hidden = trace_encoding(trace.model, hide(lab.trace(trace.model, "The cat sat.").encoding, [2], mask))
    assert ("Tokens that the model read", "[CLS] the ▢ sat . [SEP]") in stamp([hidden])
    assert stamp([])[0] == ("Model", "not recorded in this file")


def test_without_a_run_the_stamp_says_what_makes_the_figure() -> None:
    model = lab.load_model("lab-bert")
    assert stamp([], python="arrows(1)")[0] == ("In Python", "arrows(1)")
    assert [name for name, _ in stamp([model], python="f(model)")][-3:] == ["In Python", "Versions", "Kept on"]
    assert "In Python" not in dict(stamp([lab.trace(model, "the cat")], python="f(traced)"))


def test_the_hash_of_a_model_is_that_of_its_weights(tmp_path: Path) -> None:
    from lab.toy.models import random_toy
    from tests.checkpoints import write_checkpoint

    folder = write_checkpoint(tmp_path / "mine", "bert")
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    assert weights_hash(lab.load_model(folder)) == digest
    path = ROOT / "lab/models/embedded/lab-bert/model.safetensors"
    assert weights_hash(lab.load_model("lab-bert")) == hashlib.sha256(path.read_bytes()).hexdigest()
    one, other = weights_hash(random_toy(8, 9, seed=1)), weights_hash(random_toy(8, 9, seed=2))
    assert one != other and one == weights_hash(random_toy(8, 9, seed=1))


def test_vega_s_script_is_what_the_named_package_makes() -> None:
    import vl_convert

    script = vega.script()
    assert script.endswith(vega.bundled())
    for version in (vl_convert.get_vega_version(), vega.VEGA_LITE, vl_convert.get_vega_embed_version()):
        assert version in script[:400]
    assert vl_convert.get_vegalite_versions()[-1] == vega.VEGA_LITE
    assert a_heatmap().spec["$schema"].endswith(f"/v{vega.VEGA_LITE.split('.')[0]}.json")
    assert "</script" not in script and "<!--" not in script


def test_the_colours_are_those_of_the_lab() -> None:
    theme = tomllib.loads((ROOT / ".streamlit/config.toml").read_text("utf-8"))["theme"]
    sheet = (ROOT / "lab/charts/kept/page.css").read_text("utf-8")
    light, dark = sheet.split("@media (prefers-color-scheme: dark)")
    for scheme, part in (("light", light), ("dark", dark)):
        for name in re.findall(r"--st-([a-z-]+-colors?):", part):
            option = re.sub("-([a-z])", lambda letter: letter[1].upper(), name)
            value = theme[scheme][option]
            wanted = ", ".join(value) if isinstance(value, list) else value
            assert f"--st-{name}: {wanted};" in part, (scheme, name)


def test_components_hold_nothing_that_ends_a_script() -> None:
    from lab.charts.kept.file import _live

    for name in COMPONENTS:
        assert "</script" not in _live(name).lower() and "<!--" not in _live(name)


def test_a_table_that_is_cut_says_how_many_rows_there_are(trace: Trace) -> None:
    view = kept_figures(trace)["model_view"]()
    whole, cut = view.table(), kept_figures(trace)["head_view"]().table(7)
    assert f"{len(whole)} rows</caption>".encode() in written(view, About(), table=whole)
    assert f"the first 7 of {len(trace) ** 2} rows</caption>".encode() in written(view, About(), table=cut)
