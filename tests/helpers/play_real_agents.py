"""Play sessions of our own in a real client, in the home that the harness's ``check_all.py`` left behind.

python tests/helpers/play_real_agents.py HARNESS BIN WORK CLIENT...

A project of its own begins its memory with `helix-graph setup`, and nothing else is ever called by hand: a session
fails and repairs, the next ones meet the same error, ten errors that only look like it, and nothing at all; then a
person corrects what an agent did, and another session is asked about the same matter.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from look_alikes import COMMANDS, FILES, QUIET, SAME

SETUP = {"claude": "claude-code"}
#: How long a session may take, and what it begins in the background, on a machine that has other work.
LIMIT, PATIENCE = 400, 90
#: How a client goes on with its last session.
GO_ON = {"claude": ["--continue"], "codex": ["resume", "--last"], "gemini": ["--resume", "latest"]}
CORRECTION = "No, don't use a third-party client for exchange rates. Keep a table of rates in the repo instead."
#: These announce no session's end: the start of a later one, more than ten minutes on, reads what has ended.
ENDLESS = frozenset({"opencode"})
TEN_MINUTES = 600


class Play:
    """One client, with a project of its own in the home where it was tried before."""

    def __init__(self, client: str, bin_folder: Path, work: Path) -> None:
        self.harness, self.sessions, made = map(import_module, ("run_client", "sessions", "make_repo"))
        self.client, self.kind, self._bin = client, client.split("-", maxsplit=1)[0], str(bin_folder)
        self.home, self.repo, self.out = (work / client / name for name in ("home", "project", "out"))
        (self.home / "tmp").mkdir(parents=True, exist_ok=True)
        made.make(self.repo)
        for name, content in FILES.items():
            path = self.repo / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(content)
        self._call("git", "add", ".")
        self._call("git", "commit", "-qm", "Logs and more tests")

    def _call(self, *command: str) -> str:
        seen = self.harness.environment(self.client, self.home, "http://127.0.0.1:9", [self._bin])
        done = subprocess.run(command, cwd=self.repo, env=seen, capture_output=True, text=True, check=False)
        return done.stdout

    def set_up(self) -> None:
        self._call("helix-graph", "init")
        self._call("helix-graph", "setup", SETUP.get(self.kind, self.kind))

    def session(self, name: str, prompt: str, turns: list[dict[str, Any]], *, go_on: bool = False) -> None:
        before = r"(?s)(?:<[^>]+>.*?</[^>]+>\s*)*\"?"  # Copilot tells the time first, OpenCode quotes the prompt
        lane = {"name": name, "prompt": before + prompt[:20], "turns": turns}
        told: dict[str, Any] = {"prompt": prompt, "lanes": [lane], "otherwise": {"say": "{}"}}
        if self.kind == "codex":
            told |= {"model": "gpt-5.5", "arguments": ["--dangerously-bypass-hook-trust"]}
        if go_on:
            told["arguments"] = [*told.get("arguments", ()), *GO_ON.get(self.kind, ["--continue"])]
        out = self.out / f"own-{name}"
        self.harness.run(self.client, json.dumps(told), self.repo, self.home, out, [self._bin], LIMIT)

    def commands(self, name: str, prompt: str, commands: list[str], *, go_on: bool = False) -> None:
        tools = self.sessions.Tools(self.kind, self.repo)
        run = [{"say": "I look.", "call": [tools.run(command)]} for command in commands]
        self.session(name, prompt, [*run, {"say": "That is all."}], go_on=go_on)

    def as_told(self, name: str, played: str) -> None:
        """A session of the harness's own."""
        told = json.loads(self.sessions.session(played, self.client, self.repo))
        self.session(name, told["prompt"], told["lanes"][0]["turns"])

    def wait_until_learnt(self, words: str, *asking: str) -> None:
        """Until what was begun in the background after a session has ended, as far as an answer shows it."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and words not in self._call("helix-graph", *asking):
            time.sleep(1)

    def pass_ten_minutes(self) -> None:
        """The folders of logs were looked through that long ago."""
        swept = self.repo / ".helix" / "hooks" / "swept"
        if swept.exists():
            then = time.time() - TEN_MINUTES - 1
            os.utime(swept, (then, then))


def play(one: Play) -> None:
    one.set_up()
    one.as_told("fix", "fix")
    quiet = list(enumerate(QUIET.items()))
    if one.kind in ENDLESS:
        one.pass_ten_minutes()
        number, (prompt, command) = quiet.pop(0)
        one.commands(f"quiet-{number}", prompt, [command])
    one.wait_until_learnt("shop/cart.py", "seen", one.sessions.ERROR)
    one.as_told("again", "again")
    one.as_told("piped", "piped")
    one.commands("look-alikes", "Run the other tests one by one.", [*COMMANDS.values(), SAME])
    for number, (prompt, command) in quiet:
        one.commands(f"quiet-{number}", prompt, [command])
    one.commands("prices", "Show the prices in other currencies, too.", ["ls shop"])
    one.commands("corrected", CORRECTION, ["cat shop/cart.py"], go_on=True)
    if one.kind in ENDLESS:
        one.pass_ten_minutes()
        one.commands("meanwhile", "Which Python is this?", ["python --version"])
    one.wait_until_learnt("third-party client", "insight", "list")
    one.commands("asked", "Which currencies are in the table of rates?", ["ls shop"])


def main(harness: str, bin_folder: str, work: str, *clients: str) -> None:
    sys.path.insert(0, harness)
    for client in clients:
        play(Play(client, Path(bin_folder), Path(work)))


if __name__ == "__main__":
    main(*sys.argv[1:])
