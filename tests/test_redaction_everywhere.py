"""Is a secret gone from every file that is written, wherever in a session it stood and wherever a text is cut?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from helix_graph import Memory
from secret_samples import SHAPES, Sample, true_samples
from thoroughness import few

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from session_script import Script

#: A family is cut at 100 characters, a line at 200, a quotation at 240: around each the secret is moved along.
OFFSETS = (0, 40, 60, 70, 80, 90, 96, 130, 170, 190, 220)
#: As much of a secret as may be left, which is no help to anybody.
RUN = 8
PAD = "refused by the far end "


def samples() -> Iterator[Sample]:
    seen: set[str] = set()
    for one in true_samples(rounds=1):
        if one.kind in SHAPES and one.kind not in seen:
            seen.add(one.kind)
            yield one


def runs(secret: str) -> set[str]:
    """Every run of the part that is not the service's own beginning, nor the frame of a key block."""
    body = secret.split("\n")[1] if "\n" in secret else secret[8:]
    return {body[at : at + RUN] for at in range(len(body) - RUN + 1)}


def everywhere(work: Script, secret: str) -> None:
    for offset in OFFSETS:
        said = f"{(PAD * 10)[:offset]} {secret}"
        work.run("make deploy", f"error: {said}", code=2).edit("shop/cart.py", "a", f"b{offset}")
        work.run(f"deploy --note '{said}'", f"FAILED tests/test_a.py::test_it[{said}] - KeyError: {said}", code=1)
        work.say(f"I'll keep {said} instead of the vault because it is simple.")
        work.prompt(f"Please use this: {said}").edit_fails("shop/cart.py", f"no such text: {said}")
    name = secret.replace("/", "_").replace("\n", "_")
    work.write(f"shop/{name}.txt").run("pytest", f"FAILED tests/{name}.py::test_{name} - assert 1\n1 failed", code=1)


@pytest.mark.parametrize("one", few([*samples()], 2), ids=lambda one: one.kind)
def test_no_part_of_a_secret_is_left_in_any_file(
    one: Sample,
    tmp_path: Path,
    script: Callable[..., Script],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    work = script("s1").prompt(f"Deploy with {one.secret}")
    everywhere(work, one.secret)
    log = work.save(tmp_path / "logs")
    project = tmp_path / "project"
    project.mkdir()
    Memory.init(project)
    monkeypatch.chdir(project)
    assert run(["episode", "extract", str(log)]) == 0
    assert run(["compile"]) == 0
    files = [path.read_bytes().decode("utf-8", "replace") for path in project.rglob("*") if path.is_file()]
    written = "\n".join([*files, *capsys.readouterr()])
    assert "[redacted:" in written
    assert [part for part in runs(one.secret) if part in written] == []
