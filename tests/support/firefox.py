"""Firefox as its Debian package has it, driven by WebDriver BiDi, which it speaks by itself."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import websocket

OPTIONS = "--headless --no-remote --remote-debugging-port=0 --profile".split()
LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
PATIENCE = 300  #: seconds; Python starts in seconds, and on a busy machine in minutes
CONTROL, ENTER = "\ue009", "\ue007"


class Firefox:
    """One tab. What a script returns is plain data."""

    def __init__(self, socket: websocket.WebSocket):
        self.socket, self.numbers = socket, count(1)
        self.ask("session.new", capabilities={})
        self.tab = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def ask(self, method: str, **parameters: object) -> dict[str, Any]:
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while (answer := json.loads(self.socket.recv())).get("id") != number:
            pass  # an event
        assert answer["type"] == "success", answer
        return answer["result"]

    def open(self, address: str) -> None:
        self.ask("browsingContext.navigate", context=self.tab, url=address, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """Return what a script's expression, or its promise, comes to."""
        told = self.ask(
            "script.evaluate",
            expression=f"(async () => JSON.stringify((await {expression}) ?? null))()",
            target={"context": self.tab},
            awaitPromise=True,
        )
        assert told["type"] == "success", told
        return json.loads(told["result"]["value"])

    def wait(self, expression: str) -> Any:
        """Return an expression's value once it is true."""
        end = time.monotonic() + PATIENCE
        while not (value := self.evaluate(expression)):
            assert time.monotonic() < end, f"{expression} does not come true"
            time.sleep(0.2)
        return value

    def press(self, *keys: str) -> None:
        """Press keys together."""
        self._keys([("keyDown", key) for key in keys] + [("keyUp", key) for key in reversed(keys)])

    def type(self, text: str) -> None:
        """Type a text, key by key."""
        self._keys([(kind, key) for key in text for kind in ("keyDown", "keyUp")])

    def _keys(self, events: list[tuple[str, str]]) -> None:
        strokes = [{"type": kind, "value": key} for kind, key in events]
        keyboard = {"type": "key", "id": "keyboard", "actions": strokes}
        self.ask("input.performActions", context=self.tab, actions=[keyboard])


@contextmanager
def started(path: str, profile: Path) -> Iterator[Firefox]:
    """Start it with a new profile, in a folder of this name."""
    profile.mkdir()
    command = [path, *OPTIONS, str(profile), "about:blank"]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    try:
        found = next(filter(None, map(LISTENS.search, process.stderr)))
        with closing(
            websocket.create_connection(
                f"{found[1]}/session", timeout=PATIENCE, suppress_origin=True
            )
        ) as socket:
            yield Firefox(socket)
    finally:
        process.terminate()
        process.communicate()
