"""The entry for Community Cloud: it opens the same lab, and its requirements are the lab's own."""

from __future__ import annotations

import tomllib
from pathlib import Path
from urllib.parse import urlsplit

from packaging.requirements import Requirement
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Element

from lab.course.pages import LESSONS, page_path
from tests.pages.apptest import ROOT

CLOUD = ROOT / "cloud"
TIMEOUT = 60


def requirements(path: Path) -> list[Requirement]:
    lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
    return [Requirement(line) for line in lines if line and not line.startswith(("#", "-r"))]


def test_it_opens_the_course_and_every_lesson() -> None:
    at = AppTest.from_file(str(CLOUD / "app.py"), default_timeout=TIMEOUT).run()
    assert any("blank-sentence" in str(block.value) for block in at.get("html") if isinstance(block, Element))
    at.switch_page(page_path(LESSONS[2].page)).run()
    assert at.title[0].value == LESSONS[2].title


def test_only_the_service_may_talk_to_the_lab_there_and_nobody_is_asked_at_the_start() -> None:
    """What is beside the entry comes on top of the lab's settings; Streamlit prints no address, and looks for none."""
    from streamlit.config import _config_options_template as known

    read = tomllib.loads((CLOUD / ".streamlit/config.toml").read_text("utf-8"))
    options = {f"{section}.{name}": value for section, names in read.items() for name, value in names.items()}
    assert options.keys() <= known.keys() and options["logger.hideWelcomeMessage"] is True
    hosts = [urlsplit(origin) for origin in options.pop("client.allowedOrigins")]
    assert all(each.scheme == "https" and str(each.hostname).split(".", 1)[1] == "streamlit.app" for each in hosts[1:])
    assert hosts[0].hostname == "share.streamlit.io" and len(options) == 1


def test_its_wheels_are_of_the_version_that_is_pinned() -> None:
    assert "-r ../requirements.txt" in (CLOUD / "requirements.txt").read_text("utf-8").splitlines()
    pinned = next(each for each in requirements(ROOT / "requirements.txt") if each.name == "torch")
    version = str(pinned.specifier).removeprefix("==")
    for python in ("3.12", "3.13"):
        machine = {"sys_platform": "linux", "platform_machine": "x86_64", "python_version": python}
        taken = [
            each for each in requirements(CLOUD / "requirements.txt") if each.marker and each.marker.evaluate(machine)
        ]
        assert len(taken) == 1 and taken[0].url is not None
        tag = f"cp{python.replace('.', '')}"
        assert taken[0].url.endswith(f"/torch-{version}%2Bcpu-{tag}-{tag}-manylinux_2_28_x86_64.whl")


def test_elsewhere_the_pin_stands_alone() -> None:
    for machine in ({"sys_platform": "darwin"}, {"platform_machine": "aarch64"}, {"python_version": "3.11"}):
        here = {"sys_platform": "linux", "platform_machine": "x86_64", "python_version": "3.12"} | machine
        assert not [
            each for each in requirements(CLOUD / "requirements.txt") if each.marker and each.marker.evaluate(here)
        ]
