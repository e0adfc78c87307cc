"""Does what we ship hold together: one version, its dependencies pinned, the example logs with it?"""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from helix_graph import __version__

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def name_of(requirement: str) -> str:
    return re.split(r"[\[<>=!~; ]", requirement, maxsplit=1)[0].lower()


def pins(name: str = "requirements.lock") -> dict[str, str]:
    lines = (ROOT / name).read_text().splitlines()
    return dict(re.split(r"==| ", line.lower())[:2] for line in lines if line and line[0] not in "# ")


def test_the_version_is_the_same_everywhere(project: dict[str, Any]) -> None:
    assert project["project"]["version"] == __version__
    assert f"\n## {__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_every_dependency_of_core_and_tests_is_pinned(project: dict[str, Any]) -> None:
    extras = project["project"]["optional-dependencies"]
    wanted = {name_of(requirement) for requirement in (*project["project"]["dependencies"], *extras["dev"])}
    assert wanted - {name.replace("_", "-") for name in pins()} == set()


def test_everything_that_is_installed_has_its_hashes() -> None:
    blocks = (ROOT / "requirements.lock").read_text().split("\n    # via")[0]
    pinned = [block for block in re.split(r"\n(?=\S)", blocks) if not block.startswith("#")]
    assert {re.split(r"==| ", block.lower())[0] for block in pinned} == set(
        pins()
    )  # one may have a pin for each Python
    assert len(pinned) > 50
    assert [block for block in pinned if "--hash=sha256:" not in block] == []


def test_the_commands_that_set_up_use_the_lock_and_ci_looks_at_licences_and_fuzzes() -> None:
    install = "install -q --require-hashes -r requirements.lock"
    for name in ("README.md", "Makefile"):
        assert install in (ROOT / name).read_text(), name
    steps = (ROOT / ".ci" / "run").read_text()
    assert all(f"\n{step}\n" in steps for step in ("make licenses", "make fuzz SECONDS=3"))


def test_licences_that_were_not_read_by_a_person_are_refused(project: dict[str, Any]) -> None:
    allowed = project["tool"]["pip-licenses"]["allow-only"].split(";")
    assert {"MIT", "BSD", "Apache"} <= set(allowed)
    assert not [one for one in allowed if "GPL" in one or not one]


def test_model_libraries_are_an_extra_and_torch_is_pinned(project: dict[str, Any]) -> None:
    extras = project["project"]["optional-dependencies"]
    light = {name_of(requirement) for requirement in (*project["project"]["dependencies"], *extras["dev"])}
    assert light & {"torch", "sentence-transformers", "transformers"} == set()
    assert {name_of(requirement) for requirement in extras["semantic"]} == {"sentence-transformers"}
    assert pins("constraints.txt")["torch"] == "2.13.0"


def test_folders_of_components_are_no_packages() -> None:
    assert not (ROOT / "cli" / "__init__.py").exists()
    assert not (ROOT / "episodes" / "__init__.py").exists()


def test_every_package_says_that_it_is_typed(project: dict[str, Any]) -> None:
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert packages
    assert all((ROOT / package / "py.typed").exists() for package in packages)


def test_a_dozen_example_logs_come_with_the_package() -> None:
    demo = files("helix_cli") / "demo"
    logs = [log for log in (demo / "logs").iterdir() if log.name.endswith(".jsonl")]
    assert len(logs) == 12
    for log in logs:
        assert 15 <= len(log.read_text(encoding="utf-8").splitlines()) <= 60
    assert "written by hand" in (demo / "README.md").read_text(encoding="utf-8")
