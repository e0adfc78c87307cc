"""What does each event bring an agent, in which form, and never twice?"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from advised_project import ADVICE, advised
from helix_episodes.echo import without_echo
from helix_graph import Memory
from hook_calls import call, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from session_script import Script

FAILURE = "E   ModuleNotFoundError: No module named 'respx'\n1 failed in 0.10s"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's sessions, some advice, a plan and a topic."""
    folder: Path = tmp_path_factory.mktemp("shop")
    os.environ.pop("HELIX_DIR", None)
    memory = advised(folder)
    memory.topics.store("courier", "The courier API counts pages from one, not from zero")
    memory.plans.save({"objective": "Ship parcels", "tasks": [{"objective": "Print labels"}]})
    return folder


def told(project: Path, session: str, **more: object) -> dict[str, Any]:
    return {"session_id": session, "cwd": str(project), **more}


def test_a_session_begins_with_a_briefing(project: Path) -> None:
    answer = call("session-start", told(project, "begin", source="startup"))
    assert answer.said is not None
    assert set(answer.said) == {"hookSpecificOutput"}
    assert answer.said["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    for part in (
        ADVICE,
        'ruff fails with E501 ("E501 Line too long (120 > 100)") in 4 of 12 sessions; repaired 3 of 3 times by an edit',
        "Ship parcels",
        "Print labels",
        "courier (1)",
    ):
        assert part in answer.context
    heard = without_echo(answer.context)
    assert heard.text.strip() == ""
    assert heard.insights == tuple(hit["name"] for hit in Memory.open(project).insights.proven())


def test_nothing_is_given_twice_until_the_context_is_empty(project: Path) -> None:
    begin = told(project, "twice", source="startup")
    first, again = (call("session-start", begin) for _ in range(2))
    assert ADVICE in first.context
    # What the first start's sweep of the logs found in the meantime may be new; nothing else is.
    given = {line for line in first.context.splitlines() if line.startswith("- ")}
    assert again.said is None or given.isdisjoint(again.context.splitlines())
    asked = told(project, "twice", prompt="the courier API times out for a page")
    assert ADVICE not in call("user-prompt", asked).context
    assert call("pre-compact", told(project, "twice", trigger="auto")).said is None
    assert ADVICE in call("session-start", told(project, "twice", source="compact")).context


def test_a_prompt_brings_what_fits_it(project: Path) -> None:
    answer = call("user-prompt", told(project, "prompt", prompt="why does the courier API count pages so oddly?"))
    assert answer.said is not None
    assert answer.said["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert "counts pages from one" in answer.context


@pytest.mark.parametrize("prompt", ["yes", "go on please", "/clear", "paint the garden fence green", "", "🙂"])
def test_a_prompt_that_nothing_fits_brings_nothing(project: Path, prompt: str) -> None:
    assert call("user-prompt", told(project, "other", prompt=prompt)).said is None


def test_a_failure_brings_how_it_was_repaired(project: Path) -> None:
    answer = call("tool-failure", told(project, "fails", tool_name="Bash", error=FAILURE))
    assert "the same line" in answer.context
    assert "pip install -q -r requirements-dev.txt" in answer.context
    assert "verified" in answer.context
    assert ", line " in answer.context
    assert call("tool-failure", told(project, "fails", tool_name="Bash", error=FAILURE)).said is None


RESPONSES = {
    "object": {"exit_code": 1, "output": FAILURE},
    "below": {"metadata": {"exit_code": 2}, "output": FAILURE},
    "text": f"Exit code: 1\nWall time: 0.1 seconds\nOutput:\n{FAILURE}",
}


@pytest.mark.parametrize("form", RESPONSES)
def test_codex_tells_failures_in_the_response(project: Path, form: str) -> None:
    answer = call("post-tool", told(project, f"codex {form}", tool_name="Bash", tool_response=RESPONSES[form]))
    assert answer.said is not None
    assert answer.said["hookSpecificOutput"]["hookEventName"] == "PostToolUse"
    assert (
        "respx"
        not in call("post-tool", told(project, "fine", tool_response={"exit_code": 0, "output": FAILURE})).context
    )


@pytest.mark.parametrize("by", ["issue", "group"])
def test_nothing_is_said_of_an_issue_that_a_person_muted(project: Path, by: str) -> None:
    failing = {"tool_name": "Bash", "tool_input": {"command": "pytest -q"}, "error": FAILURE}
    issues = Memory.open(project).issues
    (name,) = (one.id for one in issues.list(by=by).issues if "respx" in one.message)
    issues.mute(name)
    assert call("tool-failure", told(project, f"muted {by}", **failing)).said is None
    issues.unmute(name)
    assert "respx" in call("tool-failure", told(project, f"muted {by}", **failing)).context


def test_an_error_never_met_brings_nothing(project: Path) -> None:
    assert (
        call("tool-failure", told(project, "new", tool_name="Bash", error="zorble: cannot frob the quux")).said is None
    )


@pytest.mark.slow
def test_what_kept_failing_is_warned_of_where_it_kept_failing(project: Path) -> None:
    edit = {"tool_name": "Edit", "tool_input": {"file_path": f"{project}/tests/test_cart.py", "new_string": "x"}}
    assert call("pre-tool", told(project, "warned", **edit)).said is None
    failed = "FAILED tests/test_cart.py::test_total - AssertionError: assert 3 == 4\n1 failed in 0.1s"
    call("tool-failure", told(project, "warned", tool_name="Bash", error=failed))
    warning = call("pre-tool", told(project, "warned", **edit))
    assert "succeeded 0 of 2 times" in warning.context
    assert call("pre-tool", told(project, "warned", **edit)).said is None
    source = {"tool_name": "Edit", "tool_input": {"file_path": f"{project}/shop/cart.py", "new_string": "x"}}
    assert call("pre-tool", told(project, "warned", **source)).said is None


@pytest.mark.parametrize("event", ["stop", "subagent-stop", "session-end", "pre-compact", "nonsense", ""])
def test_where_words_would_make_it_go_on_there_are_none(project: Path, event: str) -> None:
    answer = call(event, told(project, "quiet", transcript_path=None, reason="other"))
    assert (answer.code, answer.said, answer.errors) == (0, None, b"")


def test_the_same_call_told_by_two_programs_counts_once(project: Path) -> None:
    asked = told(project, "double", prompt="the courier API times out for a page", prompt_id="p1")
    assert call("user-prompt", asked).said is not None
    assert call("user-prompt", asked).said is None


def test_cursor_and_copilot_get_their_own_form(project: Path) -> None:
    cursor = call(
        "session-start", {"conversation_id": "c", "cursor_version": "2.4", "cwd": str(project), "user_email": "x@y.z"}
    )
    assert cursor.said is not None
    assert set(cursor.said) == {"additional_context"}
    copilot = call("session-start", {"sessionId": "k", "cwd": str(project), "timestamp": 1})
    assert copilot.said is not None
    assert set(copilot.said) == {"additionalContext"}


@pytest.mark.parametrize("how", ["file", "environment", "project rule", "session rule"])
def test_silence_is_kept(project: Path, how: str, tmp_path: Path) -> None:
    begin = told(project, f"silent {how}", source="startup")
    off, ignore = project / ".helix" / "off", project / ".helixignore"
    environment = {"HELIX_OFF": "1"} if how == "environment" else {}
    if how == "file":
        off.touch()
    elif how.endswith("rule"):
        ignore.write_text(f"project: {project.name}\n" if how == "project rule" else "session: silent*\n")
    try:
        answer = call("session-start", begin, environment=environment)
    finally:
        off.unlink(missing_ok=True)
        ignore.unlink(missing_ok=True)
    assert answer.said is None
    assert not (tmp_path / ".helix").exists()


@pytest.mark.parametrize("place", ["here", "elsewhere"])
def test_an_ending_session_is_recorded_where_it_ran(tmp_path: Path, script: Callable[..., Script], place: str) -> None:
    """An agent may have changed to the folder of another project, whose memory the hook is called for then."""
    for name in ("here", "elsewhere"):
        (tmp_path / name / ".git").mkdir(parents=True)
    memory = Memory.init(tmp_path / "here")
    log = script("ends", root=str(tmp_path / place)).prompt("Fix the cart").run("pytest -q", "1 passed in 0.1s")
    end = {"session_id": "ends", "cwd": str(tmp_path / "here"), "reason": "other"}
    call("session-end", {**end, "transcript_path": str(log.save(tmp_path / "logs"))})
    wait_for((memory.root / "causality" / "graph.db").exists)
    assert [one.session for one in memory.episodes.list()] == (["ends"] if place == "here" else [])


def test_a_project_without_memory_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for event in ("session-start", "user-prompt", "session-end"):
        assert call(event, told(tmp_path, "none", prompt="does anything happen here?")).said is None
    assert [path.name for path in tmp_path.iterdir()] == [".git"]
