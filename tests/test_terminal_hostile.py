"""Can a label, a text of a log or a typed argument write to the terminal anything but letters, by any command?"""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from typing import TYPE_CHECKING

import click
import msgspec
import orjson
import pytest

from helix_cli.app import cli
from helix_episodes.model import Event, Evidence, Link
from screens import shown
from small_worlds import memory_of, session
from thoroughness import few

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_graph import Memory

#: A title, a cleared screen, a colour by a one-byte control, writing turned round, lines of its own.
HOSTILE = "evil\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\u2066\r\nnext\x7f\u2028line\x00 end"
#: What rooms keep that refuse controls.
TURNED = "evil \u202eand turned\u2066 round"
#: What a terminal obeys; line feeds are ours.
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
MODES = {"pipe": None, "screen": 80, "narrow screen": 40}
#: Every command on that memory; those that change it come last.
CALLS = (
    ("status",),
    ("highlights",),
    ("sync",),
    ("labels",),
    ("labels", "evil"),
    ("checks",),
    ("fragile",),
    ("runbook",),
    ("issues",),
    ("issues", "show", HOSTILE),
    ("issues", "mute", HOSTILE),
    ("issues", "unmute", HOSTILE),
    ("issues", "resolve", HOSTILE),
    ("insight", "list"),
    ("topic", "list"),
    ("help", "seen"),
    ("doctor",),
    ("episode", "list"),
    ("episode", "show", "hostile"),
    ("episode", "show", "hostile", "--evidence"),
    ("episode", "decisions", "hostile"),
    ("episode", "export", "hostile"),
    ("episode", "export", HOSTILE),
    ("episode", "extract", "--dry-run", "--all"),
    ("episode", "sources"),
    ("seen", "evil"),
    ("seen",),
    ("path", "--from", "evil 1", "--to", "evil 2"),
    ("path", "--from", HOSTILE, "--to", "evil 2"),
    ("view",),
    ("report",),
    ("report", "--format", "markdown"),
    ("causes", "evil"),
    ("effects", "evil"),
    ("patterns",),
    ("patterns", "--all"),
    ("anti-patterns",),
    ("checks",),
    ("fragile",),
    ("fragile", HOSTILE),
    ("runbook",),
    ("runbook", "--markdown"),
    ("rules",),
    ("rules", "show", HOSTILE),
    ("advise",),
    ("advise", "--accept", HOSTILE),
    ("worth",),
    ("share", "list"),
    ("share", "add", HOSTILE),
    ("share", "check"),
    ("share", "merge"),
    ("explain", "hostile"),
    ("explain", "hostile", "--steps"),
    ("explain", HOSTILE),
    ("contrast", "hostile"),
    ("without", "edit"),
    ("similar", HOSTILE),
    ("comparisons",),
    ("claims",),
    ("repeats",),
    ("placebo", "--rounds", "1"),
    ("insight", "recall", "evil", "--lexical"),
    ("insight", "health"),
    ("insight", "uplift"),
    ("insight", "match"),
    ("insight", "export"),
    ("insight", "get", "NAME"),
    ("insight", "get", HOSTILE),
    ("insight", "why", "NAME"),
    ("insight", "neighbors", "NAME"),
    ("insight", "connected", "NAME"),
    ("insight", "promote", "NAME", "--anyway"),
    ("topic", "search", "evil"),
    ("topic", "search", "evil", "--detail", "full"),
    ("topic", "read", "evil"),
    ("topic", "read", HOSTILE),
    ("topic", "brief"),
    ("topic", "brief", "evil"),
    *(("topic", "topics", action) for action in ("list", "recent", "stats", "xref", "graph", "stale", "export")),
    ("search", "evil"),
    ("search", "--status"),
    ("exploration", "load"),
    ("plan", "load"),
    ("plan", "ready"),
    ("plan", "waves"),
    ("plan", "status"),
    ("assess", HOSTILE, "--approach", HOSTILE),
    ("inject", "evil"),
    ("batch-inject", "evil", HOSTILE),
    *(("graph", "export", "--format", form) for form in ("json", "graphml", "dot", "mermaid")),
    ("pack", "--output", "shards"),
    ("pack", "--output", "shards", HOSTILE.replace("\x00", "")),
    ("fold", "shards", "--output", "sums", "--serving", "served"),
    ("fold", HOSTILE.replace("\x00", ""), "--output", "sums"),
    ("fold", "--engine", "local", "--output", "sums"),
    ("model", "status"),
    ("init",),
    ("compile", "--dry-run"),
    ("compile",),
    ("episode", "outcome", "hostile", "--failure", "--because", HOSTILE),
    ("episode", "correct", "hostile", "--decision", "d001", "--chosen", HOSTILE),
    ("episode", "new", "--session", "another", "--task", HOSTILE, "--outcome", "success"),
    ("node", "add", "--type", "error", "--label", HOSTILE),
    ("edge", "add", "--source", HOSTILE, "--target", HOSTILE, "--type", "causes"),
    ("pattern", "add", "--name", HOSTILE, "--trigger", HOSTILE, "--action", HOSTILE),
    ("insight", "store", "--content", f"when the till is slow {HOSTILE}"),
    ("insight", "relate", "NAME", HOSTILE),
    ("insight", "link", "NAME", "--node-type", HOSTILE),
    ("insight", "feedback", "--names", '["NAME"]', "--outcome", HOSTILE),
    ("insight", "chunk", "--task-objective", HOSTILE, "--outcome", HOSTILE, "--approach", HOSTILE),
    ("insight", "harvest"),
    ("insight", "decay"),
    ("insight", "consolidate"),
    ("insight", "reindex"),
    ("insight", "rebuild"),
    ("insight", "edit", "NAME", "--content", f"when the till is slow {HOSTILE}"),
    ("insight", "reject", "NAME", "--reason", HOSTILE),
    ("insight", "mute", "NAME"),
    ("insight", "prune", "--yes"),
    ("insight", "import", HOSTILE.replace("\x00", "")),
    ("insight", "forget", HOSTILE),
    ("topic", "store", "evil", f"{HOSTILE} again"),
    ("topic", "batch", HOSTILE.replace("\x00", "")),
    ("topic", "edit", "append", "evil", "--text", HOSTILE),
    ("topic", "edit", "delete", "evil", "--index", "0"),
    ("plan", "update", "001", "--status", "active"),
    ("workspace", "create", "001"),
    ("workspace", "get", "1"),
    ("workspace", "prompt", "1"),
    ("workspace", "check", "1"),
    ("workspace", "complete", "1", "--delivered", HOSTILE),
    ("workspace", "block", "1", "--reason", HOSTILE),
    ("plan", "complete"),
    ("exploration", "clear"),
    ("wait", "builders", "--task-ids", HOSTILE, "--timeout", "0"),
    ("wait", "explorers", "--count", "1", "--timeout", "0"),
    ("learn", HOSTILE.replace("\x00", "")),
    ("forget", "--session", HOSTILE, "--dry-run"),
    ("forget", "--session", "hostile"),
    ("pause",),
    ("resume",),
    ("status", "--no-such-option", HOSTILE),
    (HOSTILE,),
)
#: They speak protocols, need a file or a server, or show nothing of the memory.
ELSEWHERE = {
    *("mcp", "hook", "setup", "plugin export", "demo", "model install", "plan save", "exploration save", "trust"),
    *("team add", "team list", "team remove", "team script", "team setup"),
}


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """A memory that has the hostile text wherever a text can be."""
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    evidence = Evidence(line=1, quote=HOSTILE, file=HOSTILE)
    one = session("hostile", "edit x", "run lint", success=False, task=HOSTILE, task_kind="fix")
    events = tuple(
        Event(
            id=f"e{place:03}",
            timestamp="2026-03-01T10:00:00Z",
            type="error",
            content=f"{HOSTILE} {place}",
            check=f"{HOSTILE} {place}",
            family=HOSTILE,
            message=HOSTILE,
            status="error",
            evidence=evidence,
        )
        for place in (1, 2)
    )
    decisions = tuple(
        msgspec.structs.replace(each, chosen=HOSTILE, rationale=HOSTILE, context=HOSTILE, evidence=evidence)
        for each in one.decisions
    )
    links = (Link(source="e001", target="e002", reason="stated"), Link(source="d001", target="e001", reason="call"))
    fields = {"events": events, "decisions": decisions, "links": links, "lessons": (HOSTILE,), "project": HOSTILE}
    alike = [msgspec.structs.replace(one, id=f"episode-{name}", session=name, **fields) for name in ("hostile", "two")]
    (tmp_path / "AGENTS.md").write_text(f"- Run `pytest -q` {HOSTILE}\n- Never edit `shop/x.py` {HOSTILE}\n")
    made = memory_of(tmp_path, alike, compiled=True)
    made.insights.store(f"When the till is slow, look here: {TURNED}", ["evil"])
    with sqlite3.connect(made.root / "helix.db") as database:  # as another's hand may have left it
        database.execute("UPDATE insight SET content = ?", (f"When the till is slow: {HOSTILE}",))
    database.close()
    made.topics.store("evil", HOSTILE, source="shop/x.py:1", tags="evil")
    task = {"seq": "001", "slug": "till", "objective": TURNED, "delta": ["shop/till.py"]}
    made.plans.save({"objective": TURNED, "framework": TURNED, "idioms": {}, "tasks": [task]})
    return made


def answers(memory: Memory, *more: str, columns: int | None = None) -> Iterator[tuple[str, str]]:
    """Each command with all that it wrote."""
    name = memory.insights.recall("till", semantic=False, min_relevance=0.0)[0]["name"]
    for call in CALLS:
        arguments = [part.replace("NAME", name) if part in ("NAME", '["NAME"]') else part for part in call]
        told = shown(*arguments, *more, columns=columns, NO_COLOR="1")
        yield " ".join(call), told.out + told.err


@pytest.mark.parametrize("mode", few(list(MODES), 1))
def test_no_command_writes_what_a_terminal_obeys(memory: Memory, mode: str) -> None:
    written = list(answers(memory, columns=MODES[mode]))
    assert [name for name, told in written if OBEYED.search(told)] == []
    assert sum("evil" in told for _, told in written) > 50, "or the hostile text was nowhere"


@pytest.mark.slow
def test_nor_does_json(memory: Memory) -> None:
    written = list(answers(memory, "--json"))
    assert [name for name, told in written if OBEYED.search(told)] == []
    assert sum("evil" in told for _, told in written) > 50


def test_json_keeps_every_character(memory: Memory) -> None:
    answer = orjson.loads(shown("topic", "read", "evil", "--json").out)
    assert answer["entries"][0]["text"] == memory.topics.read("evil").entries[0].text
    assert "\x9b" in answer["entries"][0]["text"]


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize(
    "arguments", [("explain", "hostile"), ("patterns",), ("topic", "search", "evil")], ids=" ".join
)
def test_a_screen_that_lacks_characters_gets_escapes_and_its_width(arguments: tuple[str, ...]) -> None:
    shown("topic", "store", "wide", "evil 価格 is the price 🧨 → " * 8, "--force")
    told = shown(*arguments, columns=60, encoding="ascii", NO_COLOR="1")
    assert told.code == 0
    assert told.out.isascii()
    assert max(map(len, told.out.splitlines())) <= 60


def test_every_command_was_asked() -> None:
    asked = {" ".join(call[:words]) for call in CALLS for words in (1, 2)}
    names: dict[int, set[str]] = defaultdict(set)
    for name, command in leaves(cli):  # one command may have two names
        names[id(command)].add(name)
    assert {min(each, key=len) for each in names.values() if not each & asked} == ELSEWHERE


def leaves(command: click.Command, path: str = "") -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield path, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None
        yield from leaves(below, f"{path} {name}".strip())
