"""Cards: metadata, headings, pictures, code and tables, whatever an author writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.reference.models.model_cards import CARD, Code, ModelCardText, Picture, Table, read_model_card

WHOLE = """---
license: apache-2.0
tags: [one, two]
---
# A part

It costs $5 or $6, and `$HOME` stays.
# Not a title
## How

    make it  # a comment, $1

    and again

![The loss](loss.svg)
An ![inline](loss.svg) picture, and ![one from afar](http://example.org/x.png).
![Afar](http://example.org/x.png)
![Above](../loss.svg)

| source | licence |
| --- | --- |
| a-b | CC \\| 0 |
| c |

- item

    its second paragraph

```python
# no heading
![no picture](loss.svg)
| no | table |
```
### End
"""


def card(folder: Path, text: str) -> ModelCardText:
    (folder / CARD).write_text(text, encoding="utf-8")
    (folder / "loss.svg").write_text("<svg/>")
    return read_model_card(folder)


def test_a_card_has_its_parts_by_their_headings(tmp_path: Path) -> None:
    rows = "| a | b |\n| --- | --- |\n| 1 | 2 |"
    written = f"# T\nFirst.\n\n## A\nOne.\n\n{rows}\n\nTwo.\n### Within\n## B\n\n    make it\n\n## C\n"
    table = Table(("a", "b"), (("1", "2"),))
    for demote, within in ((0, "### Within"), (1, "#### Within")):
        found = card(tmp_path, written).sections(demote)
        assert list(found) == ["", "A", "B", "C"]
        assert found[""] == ("First.",) and found["A"] == ("One.", table, f"Two.\n{within}")
        assert found["B"] == (Code("make it"),) and found["C"] == ()


def test_a_card_is_taken_apart(tmp_path: Path) -> None:
    found = card(tmp_path, WHOLE)
    assert found.front == {"license": "apache-2.0", "tags": ["one", "two"]}
    assert found.title == "A part"
    assert "---\nlicense" not in found.body
    text, code, picture, more, table, listed, fenced, end = found.parts(demote=2)
    assert text == "It costs \\$5 or \\$6, and `$HOME` stays.\n### Not a title\n#### How"
    assert code == Code("make it  # a comment, $1\n\nand again")
    assert picture == Picture(tmp_path / "loss.svg", "The loss")
    assert more == "An inline picture, and one from afar.\nAfar\nAbove"
    assert table == Table(("source", "licence"), (("a-b", "CC \\| 0"), ("c", "")))
    assert listed == "- item\n\n    its second paragraph"
    assert fenced == Code("# no heading\n![no picture](loss.svg)\n| no | table |")
    assert end == "##### End"


def test_headings_stay_without_demotion(tmp_path: Path) -> None:
    assert card(tmp_path, "# T\n## A\n#hashtag\n").parts() == ("## A\n#hashtag",)
    assert card(tmp_path, "# T\n## A\n#hashtag\n").parts(1) == ("### A\n#hashtag",)


def test_the_first_table_that_begins_with_a_name(tmp_path: Path) -> None:
    found = card(tmp_path, WHOLE)
    assert found.column("source") == ("a-b", "c")
    assert found.column("licence") == ()
    assert found.column("no") == ()


def test_no_metadata_and_no_title(tmp_path: Path) -> None:
    found = card(tmp_path, "Only words.\n\n---\n\nAnd more.")
    assert found.front == {}
    assert found.title == tmp_path.name
    assert found.parts() == ("Only words.\n\n---\n\nAnd more.",)
    assert card(tmp_path, "").parts() == ()


@pytest.mark.parametrize("front", ["a: [", "- a\n- b", "words"])
def test_metadata_that_are_none(front: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=tmp_path.name):
        card(tmp_path, f"---\n{front}\n---\n# T\n")


def test_metadata_make_no_objects(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not YAML"):
        card(tmp_path, "---\na: !!python/object/apply:os.getcwd []\n---\n")


def test_a_folder_without_a_card(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_model_card(tmp_path)
