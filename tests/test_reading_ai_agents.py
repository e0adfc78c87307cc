"""Are the reports of the ai-agents project read whole, whatever their shape, and each line accounted for?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from helix_episodes.errors import LogNotReadable, UnknownLogFormat
from helix_episodes.readers import find_logs, find_reader, read_sessions

if TYPE_CHECKING:
    from helix_episodes.session import Session, Step

FIXTURES = Path(__file__).parent / "fixtures" / "ai_agents"
REPORT = FIXTURES / "2026-03-02-session-7-export-totals.json"
MARKDOWN = FIXTURES / "2026-03-03-session-8-cache.md"


def read(path: Path) -> Session:
    (session,) = read_sessions(path)
    return session


def written(folder: Path, document: object, name: str = "2026-04-01-session-1.json") -> Session:
    path = folder / name
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    return read(path)


def texts(session: Session, kind: str, part: str | None = None) -> list[str]:
    return [step.text for step in session.steps if step.kind == kind and step.arguments.get("part") in {part, None}]


def decision(session: Session, text: str) -> Step:
    return next(step for step in session.steps if step.kind == "decision" and step.text.startswith(text))


def test_both_forms_are_recognised_by_content_under_any_name(tmp_path: Path) -> None:
    for log in (REPORT, MARKDOWN):
        other = tmp_path / "notes.txt"
        other.write_bytes(log.read_bytes())
        assert find_reader(other).name == "ai-agents"


@pytest.mark.parametrize(
    "text",
    [
        "# Shopping\n\n- milk\n",
        '{"name": "package", "version": "1.0"}',
        "# Session\n\nhello\n",
        '{"session_id": "a", "objective": "x"}\n{"session_id": "a", "objective": "y"}\n',
    ],
)
def test_other_files_are_declined_with_a_reason(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.md"
    path.write_text(text)
    with pytest.raises(UnknownLogFormat) as refused:
        find_reader(path)
    assert refused.value.declined["ai-agents"]


def test_a_folder_gives_its_logs_and_not_its_notes(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Readme\n")
    (tmp_path / "package.json").write_text("{}")
    (tmp_path / "session.json").write_bytes(REPORT.read_bytes())
    assert [log.name for log in find_logs(tmp_path)] == ["session.json"]


def test_a_poisoned_report_is_named_and_not_guessed_at(tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    path.write_bytes(REPORT.read_bytes()[:-40])
    with pytest.raises(LogNotReadable, match="no complete JSON"):
        read(path)


def test_nesting_without_end_costs_no_recursion(tmp_path: Path) -> None:
    deep: Any = "bottom"
    for _ in range(200):
        deep = {"inner": deep}
    session = written(tmp_path, {"workLog": [], "session": {}, "objective": "dig", "odd": deep})
    assert "bottom" in texts(session, "note", "other")


def test_the_descriptive_end_of_a_name_keeps_parallel_sessions_apart() -> None:
    assert read(REPORT).id == "2026-03-02-session-7-export-totals"


def test_decisions_are_taken_whole_from_every_place() -> None:
    session = read(REPORT)
    round_once = decision(session, "Round once")
    assert round_once.arguments["rationale"] == "Rounding each line loses cents"
    assert round_once.arguments["options"] == ["Round each line", "Store cents as integers"]
    came_of_it = [step.text for step in session.steps if step.call_id == round_once.call_id and step.kind == "note"]
    assert came_of_it == ["Totals agree with the ledger", "Reports of March change by one cent"]
    assert {step.text for step in session.steps if step.kind == "decision"} == {
        "Round once, at the end",
        "Keep the CSV layout",
        "Export nightly",
    }


@pytest.mark.parametrize(
    "place",
    [
        {"decisions": ["Use a queue"]},
        {"technicalDecisions": [{"decision": "Use a queue", "why": "bursts"}]},
        {"outcomes": {"decisions": [{"decision": "Use a queue"}]}},
        {"outcomes": {"episode": {"decisions": [{"chosen": "Use a queue"}]}}},
        {"workLog": [{"action": "Looked", "decision": "Use a queue"}]},
        {"workLog": [{"action": "Looked", "decisions": [{"decision": "Use a queue"}]}]},
    ],
)
def test_explicit_decisions_are_found_wherever_logs_keep_them(place: dict[str, Any], tmp_path: Path) -> None:
    session = written(tmp_path, {"session": {"objective": "x"}, "protocolCompliance": {}, **place})
    assert any("Use a queue" in step.text for step in session.steps if step.kind == "decision")


def test_an_entry_says_what_was_done_and_what_was_found_together() -> None:
    session = read(REPORT)
    done = next(step for step in session.steps if step.text == "Ran the export on March")
    found = next(step for step in session.steps if step.text.startswith("The export failed"))
    assert done.call_id == found.call_id is not None
    assert found.at is not None
    assert found.at.isoformat() == "2026-03-02T08:30:00+00:00"


def test_a_mark_of_time_that_is_none_stays_unknown() -> None:
    assert next(step for step in read(REPORT).steps if step.text.startswith("Read the exporter")).at is None
    assert next(step for step in read(MARKDOWN).steps if step.text == "Measured the hit rate").at is None


def test_every_line_is_in_one_column_and_no_text_is_lost() -> None:
    for log in (REPORT, MARKDOWN):
        accounting = read(log).accounting
        assert accounting.lines == len(log.read_text().splitlines())
        columns = accounting.used + accounting.blank + len(accounting.bad)
        assert columns + sum(accounting.skipped.values()) + sum(accounting.unknown.values()) == accounting.lines
    assert read(REPORT).accounting.unknown == {"weather": 1}
    assert {"rainy", "seldom"} <= set(texts(read(REPORT), "note", "other"))


def test_lessons_keep_what_to_do_and_what_to_avoid() -> None:
    assert texts(read(REPORT), "lesson") == [
        "Sum first, round last. Use it wherever cents are added.",
        "Avoid: Rounding in a loop. Round the sum.",
    ]


@pytest.mark.parametrize(
    ("shape", "lesson"),
    [
        ({"learnings": ["Look twice"]}, "Look twice"),
        ({"lessons_learned": "Look twice"}, "Look twice"),
        ({"keyFindings": ["Look twice"]}, "Look twice"),
        ({"retrospective": {"learningsCaptured": ["Look twice"]}}, "Look twice"),
        ({"workLog": [{"action": "x", "insight": "Look twice"}]}, "Look twice"),
        ({"learnings": [{"category": "care", "insight": "Look twice"}]}, "Look twice."),
    ],
)
def test_lessons_are_found_in_all_shapes(shape: dict[str, Any], lesson: str, tmp_path: Path) -> None:
    assert texts(written(tmp_path, {"session": {}, "objective": "x", **shape}), "lesson") == [lesson]


def test_commits_are_the_sessions_own_each_once_and_never_the_one_it_began_from() -> None:
    assert read(REPORT).commits == ("9f8e7d6c5b4a39281706f5e4d3c2b1a098765432",)
    assert read(MARKDOWN).commits == ("bbb2222",)


def declared(session: Session) -> tuple[str, str, bool] | None:
    found = session.declared_outcome
    return (found.outcome, found.words.text, found.inferred) if found is not None else None


def test_gates_imply_the_outcome_unless_the_log_says_it(tmp_path: Path) -> None:
    report = json.loads(REPORT.read_text())
    gate = report["protocolCompliance"]["sessionEnd"]["changesCommitted"]
    outcome, words, inferred = declared(read(REPORT)) or ("", "", False)
    assert (outcome, inferred) == ("success", True)
    assert words
    assert words in REPORT.read_text()
    gate["complete"] = False
    outcome, words, inferred = declared(written(tmp_path, report)) or ("", "", False)
    assert (outcome, words, inferred) == ("partial", gate["evidence"], True)
    assert declared(written(tmp_path, {**report, "status": "complete"})) == ("success", "complete", False)
    assert declared(written(tmp_path, {"session": {}, "objective": "x", "workLog": []})) is None


@pytest.mark.parametrize("objective", ["[Migrated from markdown]", "", "TBD"])
def test_a_placeholder_is_replaced_by_what_was_done(objective: str, tmp_path: Path) -> None:
    log = {"session": {"objective": objective}, "workLog": [{"action": "Moved the cache"}], "protocolCompliance": {}}
    assert written(tmp_path, log).task == "Moved the cache"


def test_markdown_gives_decisions_from_lists_headings_and_tables() -> None:
    session = read(MARKDOWN)
    assert [step.text for step in session.steps if step.kind == "decision"] == [
        "Key by currency: the entry must differ",
        "Use a hook (polling is too slow)",
        "Drop the global cache",
        "Expire after an hour",
    ]
    assert decision(session, "Drop").arguments["rationale"] == "Nobody reads it"
    assert decision(session, "Expire").arguments["rationale"] == "Prices change daily"


def test_markdown_gives_problems_with_their_remedies_and_details_stay_with_them() -> None:
    session = read(MARKDOWN)
    problems = [step for step in session.steps if step.arguments.get("part") == "problem"]
    assert [step.text for step in problems] == [
        "The key leaves out the currency.",
        "Clock skew: hosts disagree by a minute",
    ]
    remedy = next(step for step in session.steps if step.arguments.get("part") == "remedy")
    assert remedy.call_id == problems[1].call_id


def test_markdown_compliance_tables_are_gates_and_code_is_no_statement() -> None:
    session = read(MARKDOWN)
    assert [step.arguments["passed"] for step in session.steps if step.kind == "gate"] == [True, True]
    assert not any("no statement" in step.text for step in session.steps)
    assert session.task == "Keep cached prices fresh."


@pytest.mark.slow
@pytest.mark.corpus
def test_the_corpus_is_read_whole(corpora: Path) -> None:
    logs = sorted((corpora / "ai-agents" / "sessions").iterdir())
    sessions = [read(log) for log in logs]
    assert len({session.id for session in sessions}) == len(logs) == 60
    for log, session in zip(logs, sessions, strict=True):
        assert session.accounting.lines == len(log.read_text(encoding="utf-8").removesuffix("\n").split("\n"))
        assert session.task
        assert not session.accounting.bad


def in_markdown(folder: Path, body: str) -> Session:
    path = folder / "2026-04-01-session-2.md"
    path.write_text(f"# Session 2: Tidy\n\n## Objective\n\nTidy up.\n\n{body}\n", encoding="utf-8")
    return read(path)


def test_a_lesson_in_the_list_of_deeds_is_one_and_a_plain_line_of_prose_is_none(tmp_path: Path) -> None:
    listed = in_markdown(tmp_path, "## Work Log\n\n- Renamed the reader\n- Lesson: name the cache\n")
    assert texts(listed, "lesson") == ["name the cache"]
    assert texts(in_markdown(tmp_path, "## Work Log\n\nLesson: name the cache\n"), "lesson") == []


def test_a_finding_is_told_without_its_label_and_other_labels_say_what_they_name(tmp_path: Path) -> None:
    session = in_markdown(tmp_path, "## Analysis\n\n**Finding**: the map is old\n\n**Evidence**: the log of the run\n")
    assert texts(session, "note", "found") == ["the map is old"]
    assert texts(session, "note", "other") == ["Evidence: the log of the run"]


def test_a_label_under_decisions_that_names_something_else_decides_nothing(tmp_path: Path) -> None:
    session = in_markdown(tmp_path, "## Decisions\n\n**TIMELINE**: two weeks\n\n**Keep the map**: it is fast\n")
    assert texts(session, "decision") == ["Keep the map: it is fast"]


def test_the_branch_says_what_a_session_without_an_objective_was_for(tmp_path: Path) -> None:
    document = {"session": {"objective": "TBD", "branch": "feat/fix-the-gate"}, "protocolCompliance": {}, "workLog": []}
    assert written(tmp_path, document).task == "fix the gate"
