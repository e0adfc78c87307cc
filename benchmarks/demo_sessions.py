"""Writes the generated logs of the demo: more sessions of the invented shop, so that rates have something to count.

    python benchmarks/demo_sessions.py

The same logs each time. What goes wrong in them is drawn by the chances below; the demo says that they are generated.
"""

from __future__ import annotations

import json
import random
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "cli" / "helix_cli" / "demo" / "generated"
ROOT = "/home/mara/papershop"
SESSIONS = 48
BEGINS = datetime(2026, 5, 22, 8, 10, tzinfo=UTC)
#: From this session on CLAUDE.md says how tests are run, and nobody tries `make test` any more.
RULED = 24
_SEED = 9
_AREAS = ("api", "cart", "orders", "prices", "shipping", "models")
_WISHES = (
    "a field for notes",
    "a limit",
    "sorting",
    "a filter by date",
    "a clearer error",
    "an option to skip empty ones",
)
_ENDS = (
    "and commit when everything is green.",
    "with a test. Commit it when tests and lint pass.",
    "the way the other modules do it, then commit.",
    "and tell me what you changed.",
)
_MODELS = ("claude-sonnet-4-5-20250929", "claude-opus-4-5-20251101")
_NEW_LINES = (4, 12, 60)
_FOUND_ELSEWHERE = 14
#: What is changed where something failed: the lines that go, and those that come.
_TEST = ("    assert answer.status == 201", '    assert answer.json["number"]\n    assert answer.status == 201')
_STATUS = (
    "    return Response(json=form)",
    """\
    if missing := missing_in(form):
        return Response(status=400, json=missing)
    return Response(status=201, json=form)""",
)
_COLUMN = (
    "ALTER TABLE books ADD COLUMN note TEXT NOT NULL;",
    """\
ALTER TABLE books ADD COLUMN note TEXT;
UPDATE books SET note = '';
ALTER TABLE books ALTER COLUMN note SET NOT NULL;""",
)
_RATE = ("    return taxed(net * 1.19)", '    rate = Decimal("1.19")\n    return taxed(net * rate)')
_NET = ("    net = float(self.net())", "    net = self.net()\n    assert isinstance(net, Decimal)")
_LONG = (
    "    return [line for line in self.all_lines if line.quantity > 0"
    " and line.book.is_available and not line.is_cancelled]"
)
_WRAPPED = """\
    wanted = [line for line in self.all_lines if line.quantity > 0 and not line.is_cancelled]
    return [line for line in wanted if line.book.is_available]"""


class Log:
    """One session in Claude Code's shape."""

    def __init__(self, number: int, draw: random.Random) -> None:
        self.id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"papershop-{number}"))
        self.number = number
        self.at = BEGINS + timedelta(days=2 * number, minutes=37 * (number % 11))
        self.draw, self.lines = draw, list[dict[str, Any]]()

    def add(self, kind: str, content: object, **more: object) -> None:
        parent = self.lines[-1]["uuid"] if self.lines else None
        name = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.id}-{len(self.lines)}"))
        message: dict[str, object] = {"role": kind, "content": content}
        if kind == "assistant":
            message |= {"id": f"msg_{len(self.lines)}", "model": _MODELS[self.number % 3 == 1]}
        self.lines.append(
            {
                "type": kind,
                "uuid": name,
                "parentUuid": parent,
                "sessionId": self.id,
                "cwd": ROOT,
                "version": "2.1.31",
                "gitBranch": "main",
                "timestamp": self.at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                "message": message,
                **more,
            }
        )
        self.at += timedelta(seconds=self.draw.randint(3, 25))

    def call(self, tool: str, arguments: dict[str, str], output: str, *, failed: bool = False) -> None:
        call = f"toolu_{self.id[:8]}{len(self.lines):04}"
        self.add("assistant", [{"type": "tool_use", "id": call, "name": tool, "input": arguments}])
        text = f"Exit code 1\n{output}" if failed else output
        result = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": failed}
        told = {"stdout": output, "stderr": ""} if tool == "Bash" else {}
        self.add("user", [result], toolUseResult=f"Error: {text}" if failed else told)

    def edit(self, path: str, lines: int) -> None:
        """Adds so many lines."""
        self.replace(path, "    pass", "\n".join(f"    step_{n} = {n}" for n in range(lines)))

    def replace(self, path: str, old: str, new: str) -> None:
        arguments = {"file_path": f"{ROOT}/{path}", "old_string": old, "new_string": new}
        self.call("Edit", arguments, f"The file {ROOT}/{path} has been updated.")

    def run(self, command: str, output: str, *, failed: bool = False) -> None:
        self.call("Bash", {"command": command}, output, failed=failed)

    def save(self) -> None:
        text = "".join(f"{json.dumps(line, separators=(',', ':'))}\n" for line in self.lines)
        (FOLDER / f"{self.id}.jsonl").write_text(text, encoding="utf-8")


def pytest_output(area: str, *, failed: bool) -> str:
    """What pytest prints."""
    if not failed:
        return "................                                                         [100%]\n16 passed in 0.42s"
    return (
        "...............F                                                         [100%]\n"
        f"=================================== FAILURES ===================================\n"
        f"______________________________ test_{area}_status ______________________________\n"
        f"E       assert 400 == 201\n\ntests/test_{area}.py:18: AssertionError\n"
        f"=========================== short test summary info ============================\n"
        f"FAILED tests/test_{area}.py::test_{area}_status - assert 400 == 201\n1 failed, 15 passed in 0.44s"
    )


def work(log: Log, area: str, lines: int, others: list[str]) -> None:
    """The change, with the tests, the linter and the type checker after it."""
    draw = log.draw
    log.edit(f"shop/{area}.py", lines)
    for other in others:
        log.edit(f"shop/{other}.py", 4)
    with_schema = area == "models" and draw.random() < 0.6
    if with_schema:
        log.edit("migrations/schema.sql", 3)
    if draw.random() < 0.3 and log.number < RULED:
        log.run("make test", "make: *** No rule to make target 'test'.  Stop.", failed=True)
    chance = 0.75 if area == "api" else 0.85 if area == "models" and not with_schema else 0.08
    failed = draw.random() < chance
    log.run("pytest -q", pytest_output(area, failed=failed), failed=failed)
    while failed:
        if draw.random() < 0.4:
            log.replace(f"tests/test_{area}.py", *_TEST)
            failed = draw.random() < 0.85
        elif area == "models":
            log.replace("migrations/schema.sql", *_COLUMN)
            failed = draw.random() < 0.1
        else:
            log.replace(f"shop/{area}.py", *_STATUS)
            failed = draw.random() < 0.1
        log.run("pytest -q", pytest_output(area, failed=failed), failed=failed)
    lint(log, area, long=lines > _NEW_LINES[1] or bool(others))
    if area in {"prices", "orders"}:
        types(log, area)


def lint(log: Log, area: str, *, long: bool) -> None:
    """The linter, and what is done about what it finds."""
    draw = log.draw
    if draw.random() >= (0.8 if long else 0.1):
        log.run("ruff check .", "All checks passed!")
        return
    if draw.random() < 0.5:
        place = f"shop/{area}.py:14:101"
        log.run("ruff check .", f"E501 Line too long (118 > 100)\n  --> {place}\n\nFound 1 error.", failed=True)
        if draw.random() < 0.3:
            log.replace(f"shop/{area}.py", _LONG, f"{_LONG}  # noqa: E501")
        elif draw.random() < 0.4:
            log.edit(f"tests/test_{area}.py", 1)
            log.run("ruff check .", f"E501 Line too long (118 > 100)\n  --> {place}\n\nFound 1 error.", failed=True)
            log.replace(f"shop/{area}.py", _LONG, _WRAPPED)
        else:
            log.replace(f"shop/{area}.py", _LONG, _WRAPPED)
    else:
        found = (
            f"F401 [*] `decimal` imported but unused\n --> shop/{area}.py:3:8\n\n"
            "Found 1 error.\n[*] 1 fixable with the `--fix` option."
        )
        log.run("ruff check .", found, failed=True)
        log.run("ruff check --fix .", "Found 1 error (1 fixed, 0 remaining).")
    log.run("ruff check .", "All checks passed!")


def types(log: Log, area: str) -> None:
    """The type checker, which prices.py mostly fails first."""
    draw = log.draw
    found = (
        f'shop/{area}.py:19: error: Argument 1 to "rounded" has incompatible type "float"; expected "Decimal"  '
        "[arg-type]\nFound 1 error in 1 file (checked 11 source files)"
    )
    failed = draw.random() < (0.7 if area == "prices" else 0.15)
    log.run("mypy shop", found if failed else "Success: no issues found in 11 source files", failed=failed)
    while failed:
        elsewhere = draw.random() < 0.4
        log.replace("shop/cart.py" if elsewhere else f"shop/{area}.py", *(_NET if elsewhere else _RATE))
        failed = draw.random() < (0.9 if elsewhere else 0.05)
        log.run("mypy shop", found if failed else "Success: no issues found in 11 source files", failed=failed)


def main() -> None:
    """Write every log anew."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.jsonl"):
        old.unlink()
    draw = random.Random(_SEED)  # noqa: S311  (no secret)
    for number in range(SESSIONS):
        log = Log(number, draw)
        area = _AREAS[number % len(_AREAS)]
        log.add("user", f"Add {draw.choice(_WISHES)} to {area} {_ENDS[number % len(_ENDS)]}")
        log.add("assistant", [{"type": "text", "text": f"I'll change shop/{area}.py."}])
        others = [one for one in _AREAS if one != area][:2] if draw.random() < 0.3 else []
        work(log, area, draw.choice(_NEW_LINES), others)
        words = f"Add to {area}"
        done = f"[main {log.id[:7]}] {words}\n {1 + len(others)} files changed, {_FOUND_ELSEWHERE} insertions(+)"
        log.run(f'git commit -qam "{words}"', done)
        log.save()


if __name__ == "__main__":
    main()
