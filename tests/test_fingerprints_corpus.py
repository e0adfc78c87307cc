"""Do the lines of real sessions have the fingerprints of their issues? The labelled lines of the benchmark."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from helix_episodes.extraction.fingerprints import diagnostics_in, keys_of_text

BENCHMARK = Path(__file__).parents[1] / "benchmarks" / "fingerprints"
CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"

pytestmark = [pytest.mark.corpus, pytest.mark.slow]  # what is said of each tool is asked of lines by hand every day


@pytest.fixture(scope="module")
def lines() -> list[tuple[str, str, str]]:
    """Group, issue and line."""
    if not CORPORA.is_dir():
        pytest.skip(f"the real logs are not there: {CORPORA}")
    spec = importlib.util.spec_from_file_location("fingerprint_pairs", BENCHMARK / "__main__.py")
    assert spec
    assert spec.loader
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    places = json.loads((BENCHMARK / "pairs.json").read_text())["texts"]
    texts = benchmark.texts_of(places, CORPORA)
    return [(place["group"], place["issue"], text) for place, text in zip(places, texts, strict=True)]


@pytest.mark.parametrize(
    ("group", "tool"),
    [
        ("go compile", "go build"),
        ("go test", "go test"),
        ("errcheck", "golangci-lint"),
        ("wrapcheck", "golangci-lint"),
        ("gosec", "golangci-lint"),
        ("biome", "biome"),
        ("tsc", "tsc"),
        ("git conflict", "git"),
        ("npm", "npm"),
        ("python exception", "python"),
        ("command not found", "shell"),
    ],
)
def test_a_real_line_is_read_by_its_tools_grammar(lines: list[tuple[str, str, str]], group: str, tool: str) -> None:
    texts = [text for of, _, text in lines if of == group]
    read = [one.tool for text in texts for one in diagnostics_in(text)]
    assert texts
    assert read.count(tool) * 2 > len(texts)


@pytest.mark.parametrize("group", ["go compile", "go test", "errcheck", "wrapcheck", "gosec", "tsc", "git conflict"])
def test_real_lines_of_one_issue_have_one_fingerprint(lines: list[tuple[str, str, str]], group: str) -> None:
    of_group = [(issue, next(keys_of_text(text), None)) for of, issue, text in lines if of == group]
    issues = {issue for issue, _ in of_group}
    prints = {fingerprint for _, fingerprint in of_group}
    assert len(issues) > 0
    assert None not in prints
    assert len(prints) == len(issues) == len(set(of_group))
