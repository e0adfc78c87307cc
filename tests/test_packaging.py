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


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return dict(line.lower().split("==") for line in lines if line and not line.startswith("#"))


def test_the_version_is_the_same_everywhere(project: dict[str, Any]) -> None:
    assert project["project"]["version"] == __version__
    assert f"\n## {__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_every_dependency_of_core_and_tests_is_pinned(project: dict[str, Any]) -> None:
    extras = project["project"]["optional-dependencies"]
    wanted = {name_of(requirement) for requirement in (*project["project"]["dependencies"], *extras["dev"])}
    assert wanted - pins().keys() == set()


def test_model_libraries_are_an_extra_and_torch_is_pinned(project: dict[str, Any]) -> None:
    extras = project["project"]["optional-dependencies"]
    light = {name_of(requirement) for requirement in (*project["project"]["dependencies"], *extras["dev"])}
    assert light & {"torch", "sentence-transformers", "transformers"} == set()
    assert {name_of(requirement) for requirement in extras["semantic"]} == {"sentence-transformers"}
    assert pins()["torch"] == "2.13.0"


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
