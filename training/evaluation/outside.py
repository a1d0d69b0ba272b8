"""Whether the embedded checkpoints answer outside the lab as they do inside: two versions of transformers.

    make outside        (or: python -m training.evaluation.outside --environments <folder>)

Makes an environment with the older version, asks both what :mod:`training.evaluation.hub_user` can answer, compares
with the lab's own forward pass and writes the result to ``outside.json`` beside this file. The cards quote it.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

from lab.analysis.words.predictions import follows, masked_prediction, next_prediction
from lab.evidence.notable import FILE
from lab.models.encoding import encode
from lab.models.loading import EMBEDDED, LoadedModel, load_model
from lab.models.trace import trace
from training.command_line import documented
from training.evaluation import hub_user
from training.evaluation.bert import BLANKS
from training.evaluation.gpt2 import PROMPTS

RECORD = Path(__file__).with_suffix(".json")
OLDER = "transformers==4.57.6"
BERTS, GPT2 = (EMBEDDED / "lab-minilm", EMBEDDED / "lab-bert"), EMBEDDED / "lab-gpt2"
# Both compute in float32, in another order of operations.
TOLERANCE = 1e-4
PAIRS = (
    ("She opened the door.", "The room was dark."),
    ("She opened the door.", "The capital of France is Paris."),
    ("The dog was hungry.", "He ate the whole cake."),
    ("The dog was hungry.", "Parliament passed the law in 1832."),
    ("It rained all day.", "The children stayed in the house."),
)
TEXTS = (
    *((text,) for text in BLANKS),
    *((text,) for text in PROMPTS),
    *PAIRS,
    ("The boys were playing.",),
    ("Café, naïve résumé; don’t they're",),
    ("🙂 👩‍👩‍👧 flags 🇫🇷", "漢字かな and مرحبا"),
    ("a  b\tc\nd ",),
    ("[CLS] typed [SEP] by [MASK] hand", "<|endoftext|>"),
    ("x" * 300,),
    ("antidisestablishmentarianism",),
)
QUESTIONS = {"texts": TEXTS, "pairs": PAIRS, "blanks": BLANKS, "prompts": PROMPTS}


def from_the_lab() -> dict[str, Any]:
    """The lab's own answers, in the form of :func:`training.evaluation.hub_user.answers`."""
    berts, gpt2 = {str(folder): load_model(folder) for folder in BERTS}, load_model(GPT2)
    continued = []
    for prompt in PROMPTS:
        run = trace(gpt2, prompt)
        found = next_prediction(run, len(run) - 1)
        (best,) = found.best(1)
        continued.append((gpt2.tokenizer.decode([best]), float(found.probabilities[best])))
    return {
        "encodings": {folder: _encodings(model) for folder, model in {**berts, str(GPT2): gpt2}.items()},
        "follows": {folder: [follows(trace(bert, *pair)) for pair in PAIRS] for folder, bert in berts.items()},
        "filled": {folder: [_filled(bert, blank) for blank in BLANKS] for folder, bert in berts.items()},
        "continued": continued,
    }


def _filled(bert: LoadedModel, blank: str) -> list[tuple[str, float]]:
    run = trace(bert, blank)
    found = masked_prediction(run, run.encoding, run.tokens.index("[MASK]"))
    return [(str(bert.tokenizer.id_to_token(i)), float(found.probabilities[i])) for i in found.best(5)]


def _encodings(model: LoadedModel) -> list[dict[str, Any]]:
    found = []
    for text in TEXTS:
        encoded = encode(model.tokenizer, model.config, *text)
        given = {
            "input_ids": list(encoded.token_ids),
            "input_ids_in_python": list(encoded.token_ids),
            "tokens": list(encoded.tokens),
            "offset_mapping": [list(pair) for pair in encoded.offsets],
        }
        if model.config.segments:
            given["token_type_ids"] = list(encoded.segment_ids)
        found.append(given)
    return found


def from_here() -> dict[str, Any]:
    """The answers of the transformers that the lab runs on."""
    hub_user.hush()
    return json.loads(json.dumps(hub_user.answers([str(folder) for folder in BERTS], str(GPT2), QUESTIONS)))


def from_an_older_one(environments: Path) -> dict[str, Any]:
    """The answers of :data:`OLDER`, in an environment of its own under ``environments``."""
    folder = environments / OLDER.replace("==", "-")
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        wanted = [f"torch=={torch.__version__.partition('+')[0]}", OLDER]
        subprocess.run([python, "-m", "pip", "install", "--quiet", *wanted], check=True)
    asked = json.dumps({"berts": [str(folder) for folder in BERTS], "gpt2": str(GPT2), "questions": QUESTIONS})
    done = subprocess.run(
        [python, hub_user.__file__],
        input=asked,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    return json.loads(done.stdout)


def differences(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """What is answered differently, in words; probabilities may differ by :data:`TOLERANCE`."""
    found = []
    for folder, every in ours["encodings"].items():
        for text, mine, other in zip(TEXTS, every, theirs["encodings"][folder], strict=True):
            names = [name for name in mine.keys() | other.keys() if mine.get(name) != other.get(name)]
            found += [f"{Path(folder).name} {text}: {name}" for name in sorted(names)]
    for folder, fives in ours["filled"].items():
        for blank, mine, other in zip(BLANKS, fives, theirs["filled"][folder], strict=True):
            if [word for word, _ in mine] != [word for word, _ in other]:
                found.append(f"{Path(folder).name} {blank}: {mine} {other}")
    for prompt, mine, other in zip(PROMPTS, ours["continued"], theirs["continued"], strict=True):
        if mine[0] != other[0]:
            found.append(f"lab-gpt2 {prompt}: {mine} {other}")
    apart = largest_difference(ours, theirs)
    return [*found, f"probabilities by up to {apart:.1e}"] if apart > TOLERANCE else found


def largest_difference(ours: dict[str, Any], theirs: dict[str, Any]) -> float:
    """The largest difference of two probabilities."""
    mine, other = _probabilities(ours), _probabilities(theirs)
    return max(abs(a - b) for a, b in zip(mine, other, strict=True))


def _probabilities(answers: dict[str, Any]) -> list[float]:
    words = [score for fives in answers["filled"].values() for five in fives for _, score in five]
    follow = [each for every in answers["follows"].values() for each in every]
    return [*follow, *words, *(probability for _, probability in answers["continued"])]


def fingerprints() -> dict[str, str]:
    """SHA-256 of every file that transformers reads."""
    files = (path for folder in (*BERTS, GPT2) for path in sorted(folder.iterdir()))
    read = [path for path in files if path.suffix in (".json", ".txt", ".safetensors") and path.name != FILE]
    return {f"{path.parent.name}/{path.name}": hashlib.sha256(path.read_bytes()).hexdigest() for path in read}


def record(environments: Path) -> dict[str, Any]:
    """Ask both versions and compare."""
    ours = from_the_lab()
    rows = []
    for theirs in (from_here(), from_an_older_one(environments)):
        rows.append(
            {
                "versions": theirs["versions"],
                "classes": {Path(folder).name: name for folder, name in theirs["classes"].items()},
                "texts": len(TEXTS),
                "differences": differences(ours, theirs),
                "largest_difference_of_a_probability": largest_difference(ours, theirs),
            }
        )
    return {"asked": rows, "files": fingerprints()}


def main() -> int:
    parser = documented(__doc__)
    parser.add_argument("--environments", type=Path, default=Path(".venv/outside"))
    torch.set_num_threads(1)
    found = json.dumps(record(parser.parse_args().environments.absolute()), indent=1, ensure_ascii=False)
    print(found)
    RECORD.write_text(found + "\n", encoding="utf-8", newline="\n")
    return int(any(row["differences"] for row in json.loads(found)["asked"]))


if __name__ == "__main__":
    sys.exit(main())
