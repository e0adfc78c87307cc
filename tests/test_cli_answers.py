"""Do the commands answer: the library's answer as JSON, all of it as text, and plainly when there is nothing?"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import orjson
import pytest

from demo_logs import demo_memory_in
from helix_cli.app import run
from helix_cli.commands.paths_and_causes import why_linked
from helix_cli.output import short_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from helix_graph import Memory

REFUND = "21622c70-78fe-546e-92e7-c4074ab7ca25"
GIFT_CARDS = "f578cbf5-f364-5f2d-a047-4ecea264db5d"


@pytest.fixture(scope="module")
def demo_memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    return demo_memory_in(tmp_path_factory.mktemp("demo"))


@pytest.fixture
def memory(demo_memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Memory:
    monkeypatch.setenv("HELIX_DIR", str(demo_memory.root))
    return demo_memory


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def asking(*arguments: str) -> str:
        assert run(arguments) == 0
        printed = capsys.readouterr()
        assert printed.err == ""
        return printed.out

    return asking


ERROR = "ModuleNotFoundError: No module named 'respx'"
SAME_WORDS: dict[tuple[str, ...], Callable[[Memory], Any]] = {
    ("seen", ERROR, "--limit", "1"): lambda memory: memory.graph.seen(ERROR, limit=1),
    ("seen",): lambda memory: memory.graph.seen(),
    ("path", "--from", "ruff", "--to", "success", "--max-depth", "4"): lambda memory: memory.graph.path(
        source="ruff", target="success", max_depth=4
    ),
    ("path", "--from", "ruff", "--to", "success", "--strongest", "--alternatives", "3"): lambda memory: (
        memory.graph.path(source="ruff", target="success", strongest=True, alternatives=3)
    ),
    ("similar", "a missing package", "--limit", "3"): lambda memory: memory.causality.similar(
        "a missing package", limit=3
    ),
    ("causes", "pytest passes"): lambda memory: memory.graph.causes("pytest passes"),
    ("effects", "edit source"): lambda memory: memory.graph.effects("edit source"),
    ("patterns", "--min-success-rate", "0.5", "--min-occurrences", "2"): lambda memory: memory.causality.patterns(
        min_success_rate=0.5, min_occurrences=2
    ),
    ("anti-patterns", "--max-success-rate", "0.4"): lambda memory: memory.causality.anti_patterns(max_success_rate=0.4),
    ("anti-patterns", "--evidence", "associated"): lambda memory: memory.causality.anti_patterns(evidence="associated"),
    ("comparisons",): lambda memory: memory.causality.comparisons(),
    ("claims", "--status", "asserted"): lambda memory: memory.causality.claims(status="asserted"),
    ("explain", GIFT_CARDS): lambda memory: memory.causality.explain(GIFT_CARDS),
    ("contrast", GIFT_CARDS): lambda memory: memory.causality.contrast(GIFT_CARDS),
    ("without", "run pytest"): lambda memory: memory.causality.without("run pytest"),
    ("placebo", "--rounds", "2"): lambda memory: memory.causality.placebo(rounds=2),
    ("repeats",): lambda memory: memory.causality.repeats(),
    ("status",): lambda memory: memory.graph.status(),
    ("compile", "--dry-run"): lambda memory: memory.graph.compile(dry_run=True),
}


@pytest.mark.parametrize("arguments", SAME_WORDS, ids=" ".join)
def test_json_is_what_the_library_answers(arguments: tuple[str, ...], memory: Memory, ask: Callable[..., str]) -> None:
    expected = msgspec.to_builtins(SAME_WORDS[arguments](memory))
    assert orjson.loads(ask(*arguments, "--json")) == orjson.loads(orjson.dumps(expected))


@pytest.mark.parametrize("arguments", SAME_WORDS, ids=" ".join)
def test_every_answer_has_a_text(arguments: tuple[str, ...], memory: Memory, ask: Callable[..., str]) -> None:
    assert memory
    assert ask(*arguments).strip()


def test_seen_reads_the_output_of_a_command(
    memory: Memory, ask: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert memory
    output = f"collected 3 items\nE   {ERROR}\n".encode() + b"\xff\x00 not text\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(output)))
    assert orjson.loads(ask("seen", "-", "--json"))["found"]


def test_seen_names_the_fix_and_how_far_it_is_to_be_trusted(memory: Memory, ask: Callable[..., str]) -> None:
    assert memory
    told = ask("seen", ERROR)
    assert '"edit requirements-dev.txt"  (verified: pytest passes' in told
    assert "same error in 1 session, same kind of error in 1 other session" in told


def test_an_error_never_met_is_an_answer(memory: Memory, ask: Callable[..., str]) -> None:
    assert memory
    assert ask("seen", "segmentation fault in the flux capacitor").startswith("Not seen before.\n")
    assert orjson.loads(ask("seen", "segmentation fault in the flux capacitor", "--json"))["found"] is False


def test_few_words_that_are_no_message_are_no_error_never_met(memory: Memory, ask: Callable[..., str]) -> None:
    assert memory
    told = ask("seen", "mypy passes")
    assert "Not seen before. Similar words:\n" in told
    assert "Next: helix-graph causes 'mypy passes'" in told


def test_a_path_takes_its_ends_without_options(memory: Memory, ask: Callable[..., str]) -> None:
    assert memory
    whole = ask("path", "--from", "mypy fails: arg-type", "--to", "success")
    assert ask("path", "mypy fails: arg-type", "success") == whole
    assert ask("path", "--to", "success", "mypy fails: arg-type") == whole


def test_every_step_of_a_path_says_what_it_rests_on(memory: Memory, ask: Callable[..., str]) -> None:
    answer = memory.graph.path(source="ruff fails: E501", target="success")
    told = ask("path", "--from", "ruff fails: E501", "--to", "success")
    for step in answer.steps:
        held = f"{step.frequency.k} of {step.frequency.n} session"
        assert f"  {step.type} ({why_linked(step.reasons)}; {held}" in told
        assert f"{short_id(step.witnesses[0].episode)}, line {step.witnesses[0].source.line} -> " in told
    assert f"; seen in {len(answer.whole)} session" in told


def test_a_path_that_no_session_holds_is_called_stitched(memory: Memory, ask: Callable[..., str]) -> None:
    answer = memory.graph.path(source="Edit fails", target="failure", resolution="kind")
    assert answer.stitched
    told = ask("path", "--from", "Edit fails", "--to", "failure", "--resolution", "kind")
    assert "joined from several sessions" in told
    assert "no session has all of them" in told


def test_no_path_says_why(memory: Memory, ask: Callable[..., str]) -> None:
    assert memory
    assert ask("path", "--from", "zebra xylophone", "--to", "success").startswith('Nothing matches "zebra xylophone".')


@pytest.mark.parametrize("command", ["causes", "effects"])
def test_neighbours_of_nothing_say_so(command: str, memory: Memory, ask: Callable[..., str]) -> None:
    assert memory
    assert ask(command, "zebra xylophone") == 'Nothing matches "zebra xylophone".\n'


def test_what_leads_where_is_told_from_both_ends(memory: Memory, ask: Callable[..., str]) -> None:
    assert memory
    told = ask("causes", "pytest passes")
    assert "edit tests/test_cart.py" in told
    assert "edit source" not in told, "no kind is shown where there is a file"
    assert "edit source (.py)" in ask("causes", "pytest passes", "--resolution", "kind")
    assert "pytest passes" in ask("effects", "edit source (.py)")
    assert "It leads to nothing." in ask("effects", "success")


def test_episodes_are_listed_newest_first_and_filtered(memory: Memory, ask: Callable[..., str]) -> None:
    listed = [one["session"] for one in orjson.loads(ask("episode", "list", "--json"))]
    assert listed[0] == REFUND
    assert len(listed) == min(20, memory.episodes.count())
    assert len(orjson.loads(ask("episode", "list", "--json", "--max-results", "3"))) == 3
    assert [one["session"] for one in orjson.loads(ask("episode", "list", "--json", "--since", "2026-09-16"))] == [
        REFUND
    ]
    assert GIFT_CARDS[:8] in ask("episode", "list", "--outcome", "failure", "--task", "GIFT")
    assert ask("episode", "list", "--task", "no such task") == "No session matches.\n"


def test_an_episode_is_shown_with_its_lines(memory: Memory, ask: Callable[..., str]) -> None:
    assert memory
    told = ask("episode", "show", REFUND)
    assert "outcome  success (measured)" in told
    for title in ("Decisions", "Events", "Links", "Fixes", "Lessons"):
        assert f"\n{title}\n" in told
    assert "line 8" in told


def test_an_episode_as_json_is_its_file(memory: Memory, ask: Callable[..., str]) -> None:
    file = memory.root / "episodes" / f"episode-{REFUND}.json"
    assert orjson.loads(ask("episode", "show", f"episode-{REFUND}", "--json")) == orjson.loads(file.read_bytes())


def test_init_begins_a_memory_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Callable[..., str]) -> None:
    monkeypatch.delenv("HELIX_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    assert "Next: helix-graph sync" in ask("init")
    assert ".gitignore" in {path.name for path in (tmp_path / ".helix").iterdir()}
    assert orjson.loads(ask("init", "--share", "--json")) == {"root": str(tmp_path / ".helix"), "shared": True}


def test_a_first_session_from_log_to_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Callable[..., str]
) -> None:
    monkeypatch.delenv("HELIX_DIR", raising=False)
    (tmp_path / ".git").mkdir()
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    logs = Path(__file__).parents[1] / "cli" / "helix_cli" / "demo" / "logs"
    ask("init")
    assert "Next: helix-graph sync" in ask("episode", "extract", str(logs))
    assert "12 episodes processed" in ask("compile")
    assert "12 unchanged" in ask("compile")
    assert "Seen before" in ask("seen", ERROR)
    assert not (tmp_path / ".helix" / "causality" / "causal-graph.json").exists()
    ask("compile", "--export")
    assert (tmp_path / ".helix" / "causality" / "causal-graph.json").exists()


def test_status_says_when_the_graph_is_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Callable[..., str]
) -> None:
    monkeypatch.setenv("HELIX_DIR", str(demo_memory_in(tmp_path).root))
    assert "Next: helix-graph sync" not in ask("status")
    (tmp_path / ".helix" / "episodes" / f"episode-{REFUND}.json").unlink()
    assert "1 episode file changed since then. Next: helix-graph sync" in ask("status")
    assert "1 removed" in ask("compile")


@pytest.mark.usefixtures("memory")
def test_each_path_says_how_many_sessions_have_it_and_its_weakest_edge(ask: Callable[..., str]) -> None:
    printed = ask("path", "--from", "ruff fails", "--to", "commit", "--strongest", "--alternatives", "2")
    assert printed.count("; seen in ") == 2
    assert printed.count("Weakest link: ") == 1, "of one session that has the first step nothing more is to be said"
    assert '\n2. "ruff fails' in printed
    assert "\n3. " not in printed
    given = orjson.loads(ask("path", "--from", "ruff fails", "--to", "commit", "--alternatives", "2", "--json"))
    assert (given["resolution"], len(given["alternatives"])) == ("thing", 1)
    step = given["steps"][0]
    assert given["weakest"]["low"] <= step["frequency"]["low"] <= step["frequency"]["k"] / step["frequency"]["n"]


@pytest.mark.usefixtures("memory")
def test_earlier_decisions_are_shown_with_the_words_that_met(ask: Callable[..., str]) -> None:
    printed = ask("similar", "freezegun is not installed, says pytest", "--limit", "1")
    assert "requirements-dev.txt" in printed
    assert "words: freezegun" in printed or "words: installed" in printed
    assert "words, not meanings" in printed
    assert "No earlier decision contains any of these words: zebra." in ask("similar", "zebra")
    assert orjson.loads(ask("similar", "zebra", "--json"))["decisions"] == []
