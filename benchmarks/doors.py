"""One stranger against a server of one's own: what is left for everybody else, by one attack after the other.

    python -m benchmarks.doors                    # all; SECURITY.md says what is in the way of each
    python -m benchmarks.doors silent --seconds 30
    python -m benchmarks.doors rooms memory long

silent: thousands of connections that say nothing, before the balancer; how long somebody else waits for an answer.
rooms: one visitor opens rooms and joins them, for as long as the server lets it; whether a teacher still gets a room.
memory: one connection sends messages of megabytes for made-up rooms; what the server holds then.
texts: many connections send the largest text, report and link that the server takes, and stay; what it holds then.
origin: foreign pages knock, on a network that drops what goes outside; how long the health check takes meanwhile.
trained: 200 visitors train a last layer on sentences of their own, and look again at the end; what the server holds.
fair: a stranger's visits begin experiments and trainings; how long a learner's training of seconds takes beside them.
long: three visitors open steps on a text of 512 tokens again and again; an honest learner's slowest page beside them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import socket
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, ExitStack, suppress
from pathlib import Path

import numpy as np
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException
from websockets.typing import Origin

from benchmarks import room
from benchmarks.balancer import proxied
from benchmarks.learners import REVEAL, SHARED, labelled, sentence
from benchmarks.server import Lab, running_lab, usage
from benchmarks.visitor import Visitor, visiting
from lab.first_visit import SUBPROTOCOLS
from lab.rooms.database import open_database
from lab.rooms.rooms import Rooms

STRANGER = "127.0.0.2"  # another address of this machine than the one that everybody else has
SILENT, HALF = 4100, b"GET / HTTP/1.1\r\nHost: lab\r\n"
MESSAGES, SIZES, ANSWERS = 65, (20, 3), 1.0  # megabytes; seconds to wait for an answer, which a dropped message has not
STRANGERS = 3
CONNECTIONS = 120
LEARNERS, AT_ONCE, WAIT = 200, 10, 120.0
VISITS, AGAIN = 8, "Measure it again here"
RUNS = tuple(
    (page, f"lab-{model}") for page in ("Copying", "Grammar", "Patching") for model in ("minilm", "bert", "gpt2")
)
TASK, TRAIN = "A_task_of_your_own", "Train the last layer, 40 steps"
LONG = " ".join(sentence(number) for number in range(20))  # more than 512 tokens: the lab cuts it there
STEPS = (
    ("Feed-forward_and_LayerNorm", "In the blank"),
    ("Masked_language_model", "When the blank learns of France"),
    ("Neuron_view", "Which dimensions decide"),
)
HONEST = ("Tokenization", "Embeddings", "Self-attention", "Multi-head_attention")


def silent(seconds: float) -> str:
    """Open :data:`SILENT` connections, half of them with the beginning of a request, and ask for the health check."""
    waited, none = 0.0, 0
    with running_lab() as lab, proxied([lab]) as door, ExitStack() as held:
        host, port = door.url.removeprefix("http://").split(":")
        opened = 0
        for number in range(SILENT):
            connection = held.enter_context(socket.socket())
            connection.settimeout(0.5)
            with suppress(OSError):
                connection.bind((STRANGER, 0))
                connection.connect((host, int(port)))
                opened += 1
                if number % 2:
                    connection.sendall(HALF)
        start = time.monotonic()
        while time.monotonic() < start + seconds:
            begun = time.monotonic()
            try:
                urllib.request.urlopen(f"{door.url}/_stcore/health", timeout=seconds).read()
            except OSError:
                none += 1
            waited = max(waited, time.monotonic() - begun)
            time.sleep(0.5)
    return f"{opened} connections were taken; somebody else waited {waited:.2f} s at most, {none} times in vain"


def rooms(seconds: float) -> str:
    """Open and join as many rooms as one visitor is let, and then let a teacher from another address open one."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'rooms.db'}"
        with running_lab(environment={"LAB_ROOMS": url}) as lab:
            taken = asyncio.run(_take_rooms(lab, seconds))
        now, kept = time.time(), Rooms(open_database(url)).listed()
        longest = max((ends - now for _, _, ends in kept), default=0.0)
        left = Rooms(open_database(url))
        try:
            left.create()
            teacher = "a teacher still gets a room"
        except RuntimeError as refused:
            teacher = f"a teacher gets none: {refused}"
    return f"{taken} rooms opened, {len(kept)} kept, for {longest / 3600:.1f} h at most; {teacher}"


async def _take_rooms(lab: Lab, seconds: float) -> int:
    end, taken = time.monotonic() + seconds, 0
    while time.monotonic() < end and taken < 60:
        async with visiting(lab.url, STRANGER) as teacher, visiting(lab.url, STRANGER) as pupil:
            await teacher.open("Room")
            await teacher.press("Open a room")
            code = teacher.query.get("room", "")
            if not code:
                await asyncio.sleep(5)
                continue
            taken += 1
            await room.sit(pupil, code)
    return taken


def memory(_: float) -> str:
    """Send :data:`MESSAGES` messages of each of :data:`SIZES` for made-up rooms over one connection."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'rooms.db'}"
        code, _key = Rooms(open_database(url)).create()
        with running_lab(environment={"LAB_ROOMS": url}) as lab:
            found = asyncio.run(_fill(lab, code))
    levels = ", ".join(f"{most:.0f} MB after {MESSAGES} of {size} MB" for size, most in found[1:])
    return f"{found[0][1]:.0f} MB before; at most {levels}"


async def _fill(lab: Lab, code: str) -> list[tuple[int, float]]:
    async with visiting(lab.url) as visitor:
        await visitor.open("Room", room=code)
        by, found = room.given(visitor)["by"], [(0, usage(lab.process.pid).megabytes)]
        for size in SIZES:
            most = 0.0
            for number in range(MESSAGES):
                made_up = f"{number:08d}" * (size * 125_000)
                told = json.dumps({"seat": [made_up, "", f"{number:022d}", by]})
                with suppress(TimeoutError):
                    await asyncio.wait_for(visitor.choose("seat", told), ANSWERS)
                most = max(most, usage(lab.process.pid).megabytes)
            found.append((size, most))
        return found


def long(seconds: float) -> str:
    """Measure an honest learner's slowest page alone and beside :data:`STRANGERS` who open long steps."""
    with running_lab() as lab:
        alone, beside = asyncio.run(_beside_strangers(lab, seconds))
    told = (
        f"{np.median(each):.2f} s, 95 of 100 {np.percentile(each, 95):.2f} s, slowest {max(each):.2f} s"
        for each in (alone, beside)
    )
    return "a page alone: {}; beside them: {}".format(*told)


async def _beside_strangers(lab: Lab, seconds: float) -> tuple[list[float], list[float]]:
    over = asyncio.Event()

    async def stranger(number: int) -> None:
        chance = random.Random(number)
        while not over.is_set():
            with suppress(OSError, WebSocketException):
                async with visiting(lab.url) as visitor:
                    page, step = STEPS[chance.randrange(len(STEPS))]
                    # Another text each time, so that nothing is remembered.
                    text = f"{sentence(chance.randrange(10**6), 3)} {LONG}"
                    await visitor.open(page, text=text, step=step)
                    while REVEAL in visitor.buttons and not over.is_set():
                        await visitor.press(REVEAL)

    async with visiting(lab.url) as learner:
        await _walks(learner, 1)  # the models and the sentence are read
        alone = await _walks(learner, seconds)
        strangers = [asyncio.create_task(stranger(number)) for number in range(STRANGERS)]
        await asyncio.sleep(1)
        beside = await _walks(learner, seconds)
        over.set()
        await asyncio.gather(*strangers)
    return alone, beside


async def _walks(learner: Visitor, seconds: float) -> list[float]:
    """Go through a few pages on the shared sentence again and again; returns the seconds that each page took."""
    end, waited = time.monotonic() + seconds, list[float]()
    while time.monotonic() < end:
        for page in HONEST:
            waited.append((await learner.open(page, text=SHARED)).seconds)
            await asyncio.sleep(0.1)
    return waited


def texts(_: float) -> str:
    """Send the largest messages over :data:`CONNECTIONS` connections that stay open."""
    with running_lab() as lab:
        levels = asyncio.run(_send_texts(lab))
    return ", ".join(f"{most:.0f} MB {name}" for name, most in levels)


async def _send_texts(lab: Lab) -> list[tuple[str, float]]:
    """The megabytes of the server: at first, with the visitors, and after each kind of message."""
    reports = "[" + "{}," * 6_600 + "{}]"
    async with AsyncExitStack() as held:
        levels = [("before", usage(lab.process.pid).megabytes)]
        visitors = [await held.enter_async_context(visiting(lab.url)) for _ in range(CONNECTIONS)]
        for each in visitors:
            await each.open("Self-attention", text=SHARED)
        levels.append((f"with {CONNECTIONS} visitors", usage(lab.process.pid).megabytes))
        for name in ("after texts of 3.9 MB", "after links of 3.9 MB", "after reports of many small parts"):
            for each in visitors:
                component = next(key for key, widget in each.widgets.items() if widget.HasField("bidi_component"))
                if "texts" in name:
                    sent = each.choose("text", "x" * 3_900_000)
                elif "links" in name:
                    sent = each.open("Self-attention", pair="y" * 3_900_000)
                else:
                    sent = each.choose(component, reports)
                with suppress(TimeoutError):
                    await asyncio.wait_for(sent, 10 * ANSWERS)
            levels.append((name, usage(lab.process.pid).megabytes))
        return levels


def origin(seconds: float) -> str:
    """Knock once a second as a foreign page, and ask for the health check."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        nobody.listen(100)
        outside = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        environment = {"http_proxy": outside, "https_proxy": outside, "no_proxy": "127.0.0.1,localhost"}
        with running_lab(environment=environment) as lab:
            return asyncio.run(_knock(lab, seconds))


async def _knock(lab: Lab, seconds: float) -> str:
    address, knocks, waited = lab.url.replace("http", "ws", 1) + "/_stcore/stream", 0, 0.0

    async def once() -> None:
        with suppress(OSError, WebSocketException, TimeoutError):
            async with connect(address, subprotocols=SUBPROTOCOLS, origin=Origin("https://elsewhere.example")):
                pass

    end, knocking = time.monotonic() + seconds, list[asyncio.Task[None]]()
    while time.monotonic() < end:
        knocking.append(asyncio.create_task(once()))
        begun, knocks = time.monotonic(), knocks + 1
        await asyncio.to_thread(lambda: urllib.request.urlopen(f"{lab.url}/_stcore/health").read())
        waited = max(waited, time.monotonic() - begun)
        await asyncio.sleep(1)
    await asyncio.gather(*knocking)
    return f"{knocks} knocks; the health check took {waited:.2f} s at most"


def trained(seconds: float) -> str:
    """Let :data:`LEARNERS` visitors train, :data:`AT_ONCE` at a time; all stay, and look again at the end."""
    with running_lab() as lab:
        return asyncio.run(_train(lab))


async def _train(lab: Lab) -> str:
    levels, most = [usage(lab.process.pid).megabytes], 0.0
    turns = asyncio.Semaphore(AT_ONCE)
    async with AsyncExitStack() as held:
        visitors = [await held.enter_async_context(visiting(lab.url)) for _ in range(LEARNERS)]

        async def train(number: int, visitor: Visitor) -> str:
            nonlocal most
            async with turns:
                await visitor.open(TASK, step="Teach it", taught="Your own")
                visitor.fill("_taught_typed", "\n".join(labelled(number, 1, 16)))
                await visitor.press("Add")
                await visitor.choose("step", "Change the model")
                await visitor.press(TRAIN)
                shown = await _shown(visitor)
                most = max(most, usage(lab.process.pid).megabytes)
                return shown

        first = await asyncio.gather(*(train(number, each) for number, each in enumerate(visitors)))
        levels.append(usage(lab.process.pid).megabytes)
        again = []
        for visitor in visitors:
            await visitor.choose("step", "Change the model")
            again.append(_gain(visitor))
        same = sum(bool(one) and one == other for one, other in zip(first, again, strict=True))
        trained = sum(map(bool, first))
    return (
        f"{trained} of {LEARNERS} have trained; {same} pages still show what they showed; {levels[0]:.0f} MB before, "
        f"at most {most:.0f} MB, {levels[1]:.0f} MB at the end"
    )


def fair(_: float) -> str:
    """Time a learner's training alone, and beside :data:`VISITS` of a stranger, who begins what takes minutes."""
    with running_lab() as lab:
        alone, beside = asyncio.run(_beside_runs(lab))
    return f"a training takes {alone:.1f} s alone, and {beside:.1f} s beside {VISITS} runs of a stranger"


async def _beside_runs(lab: Lab) -> tuple[float, float]:
    async with AsyncExitStack() as held:
        learner = await held.enter_async_context(visiting(lab.url))
        alone = await _time_training(learner, 1)
        for number in range(VISITS):
            stranger = await held.enter_async_context(visiting(lab.url, STRANGER))
            page, model = RUNS[number % len(RUNS)]
            await stranger.open(page, model=model)
            for label in (REVEAL, AGAIN):
                if label in stranger.buttons:
                    await stranger.press(label)
        return alone, await _time_training(learner, 2)


async def _time_training(learner: Visitor, number: int) -> float:
    """The seconds until a training on sentences of one's own has ended and is on screen."""
    await learner.open(TASK, step="Teach it", taught="Your own")
    if "Remove all" in learner.buttons:
        await learner.press("Remove all")
    learner.fill("_taught_typed", "\n".join(labelled(9_000 + number, number, 16)))
    await learner.press("Add")
    await learner.choose("step", "Change the model")
    begun = time.monotonic()
    await learner.press(TRAIN)
    return time.monotonic() - begun if await _shown(learner) else WAIT


def _gain(visitor: Visitor) -> str:
    """Return the sentence that says what the training has gained; "" if the page has none."""
    return next((each for each in visitor.words if "With the trained last layer" in each), "")


async def _shown(visitor: Visitor) -> str:
    """Wait until the training is over, and return what the page says of it."""
    end = time.monotonic() + WAIT
    while not _gain(visitor) and time.monotonic() < end:
        await asyncio.sleep(1)
        await (visitor.look_again() if visitor.fragment else visitor.choose("step", "Change the model"))
    return _gain(visitor)


ATTACKS: dict[str, Callable[[float], str]] = {
    "silent": silent,
    "rooms": rooms,
    "memory": memory,
    "texts": texts,
    "origin": origin,
    "trained": trained,
    "fair": fair,
    "long": long,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Attack, and print what came of it."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.doors", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("attack", nargs="*", help=f"{', '.join(ATTACKS)}; all if none is named")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long each goes on (60)")
    asked = parser.parse_args(arguments)
    if unknown := [each for each in asked.attack if each not in ATTACKS]:
        parser.error(f"there is no attack {unknown[0]}; there are {', '.join(ATTACKS)}")
    for name in asked.attack or ATTACKS:
        print(f"{name:<8} {ATTACKS[name](asked.seconds)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
