"""Failing tools: how the same error was repaired before, and a warning before a call that kept failing.

For an error only the same error and the same kind of error count: that a test runner failed before says nothing about
this failure. The error is remembered as the situation of the session. A later call gets a warning when that call kept
failing in this situation; it is labelled by the same grammar as episodes, which loads only when such an anti-pattern
is known.

Before an edit it is said why a file is fragile, in one line, once a session and file.

The agent gets two lines on a precedent: how often the error occurred, and the change that repaired it. The whole
block has at most 150 tokens, so a failing result stays the agent's own to read. Of a change its own words are shown,
what verified it, and whether the working tree still has it. Of an error that several sessions met and
none repaired that is said, and what one of them tried. Sessions that somebody else may have written are counted apart,
and theirs is given only where no own session has a verified repair.
"""

from __future__ import annotations

import os

from helix_cli.hooks.call import HookAnswer, shell_command
from helix_cli.hooks.context_block import ContextLine, ContextSection, anti_pattern_sentence, context_block
from helix_cli.hooks.session_dedup import SITUATION, SessionDedup
from helix_episodes.light_imports import Regex
from helix_graph.graph.past_remedies import word_left_out
from helix_graph.hook_caches import fragile_line, read_anti_patterns
from helix_graph.insights.label_quoting import label_or_quoted
from helix_graph.insights.safe_quoting import cut_line, logged_name_or_quoted, quoted
from helix_graph.shared_authors import known_authors

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from helix_cli.hooks.call import HookCall
    from helix_cli.hooks.session_dedup import SessionDedup
    from helix_graph.graph.error_precedents import Row
    from helix_graph.graph.error_query import Complaint


#: Programs print errors at one of the ends, and searching more takes too long for a tool's call.
_AT_EACH_END = 10_000
#: One for each issue of the output, as many as a block has room for.
_MOST_PRECEDENTS = 2


def answer_failure(call: HookCall, root: Path, dedup: SessionDedup) -> HookAnswer | None:
    """The precedent, if its repair is known and new to the session."""
    from helix_graph.errors import GraphNotCompiled
    from helix_graph.graph.error_precedents import find_precedents, shared_numbers
    from helix_graph.graph.graph_db import FILE_NAME, open_graph
    from helix_graph.graph.past_remedies import Past, is_of_kind
    from helix_graph.graph.recent_work import WorkingTree

    text = call.failure
    if len(text) >= 2 * _AT_EACH_END:
        text = f"{text[:_AT_EACH_END]}\n{text[-_AT_EACH_END:]}"
    if not text.strip() or (call.suspected and not _is_failing_run(call, text)):
        return None
    try:
        with open_graph(root / "causality" / FILE_NAME) as connection:
            readable = text.encode("utf-8", "replace").decode()
            tree = WorkingTree(root.parent, connection)
            past, muted = Past(connection, shared=shared_numbers(connection, root)), _muted(connection, root)
            found = find_precedents(past, readable, limit=_MOST_PRECEDENTS, tree=tree, nearest=True, is_muted=muted)
    except GraphNotCompiled:
        return None
    dedup.remember(SITUATION + label for label in found["looked_for"])
    precedents = found["precedents"] = [
        one for one in found["precedents"] if is_of_kind(one["label"], found["looked_for"])
    ]
    authors = known_authors(root, frozenset(one["episode"] for one in precedents if one["shared"]))
    lines = dedup.take(precedent_lines(found, authors))
    block = context_block([ContextSection("Met before:", [ContextLine(line) for line in lines])])
    if not block:
        return None
    # Only the agent reads the block; this is what the person sees of it.
    shown = [one for one in precedents if one["level"] in LEVELS]
    most = max((found["issues"][one["issue"]] for one in shown), key=lambda issue: issue["sessions"])
    what = "no repair seen, and the agent knows it"
    if repaired := [one for one in shown if one["fixes"]]:
        every = all(one["shared"] for one in repaired)
        what = "gave the agent a fix that is shared, not yours" if every else "gave the agent the fix"
    return HookAnswer(block, f"helix: seen in {_sessions(most)}, {what}")


def _sessions(issue: Row, *, earlier: str = "") -> str:
    """In how many sessions an issue was met, with shared ones counted apart."""
    own, shared = issue["sessions"] - issue["shared"], issue["shared"]
    if not own:
        return f"{shared} {earlier}shared session{'s' * (shared != 1)}"
    met = f"{own} {earlier}session{'s' * (own != 1)}"
    return f"{met} of yours and {shared} shared" if shared else met


def _muted(connection: sqlite3.Connection, root: Path) -> Callable[[Complaint], bool] | None:
    """Whether this user muted an issue or its group; None, and nothing loaded, where nobody said anything of any."""
    if connection.execute("SELECT 1 FROM assertion WHERE unit = '' AND problem IS NULL LIMIT 1").fetchone() is None:
        return None
    from helix_graph.issues.history import shared_statements, statements
    from helix_graph.issues.model import issue_id

    muted = {name for name, one in statements(connection, root).items() if one.state == "muted"}
    if muted:
        muted -= shared_statements(connection, root)  # what a commit mutes is still said to this user's agent
    return lambda asked: not muted.isdisjoint((*asked.keys, *(issue_id("group", label) for label in asked.labels)))


def _is_failing_run(call: HookCall, text: str) -> bool:
    """Whether the output of a command whose exit code is hidden, or not known, has a failing verdict of its own."""
    from helix_episodes.extraction.checks import exception_at_end, read_verdicts
    from helix_episodes.extraction.shell.commands import decisive, parse_command

    command = parse_command(shell_command(call.arguments))
    if any(one.passed is False for one in read_verdicts(command, output=text, exit_code=None, status="unknown")):
        return True
    part = decisive(command)
    return part is not None and part.purpose not in {None, "look"} and exception_at_end(text) is not None


def answer_tool_call(call: HookCall, root: Path, dedup: SessionDedup) -> HookAnswer | None:
    """The warning, once a session, and the line of a fragile file, once a session and file."""
    block = context_block([fragile_section(call, root, dedup), _kept_failing(call, root, dedup)])
    return HookAnswer(block) if block else None


def _kept_failing(call: HookCall, root: Path, dedup: SessionDedup) -> ContextSection:
    """The anti-patterns that a call would follow, in the situation that the session is in."""
    known = []
    for one in read_anti_patterns(root) or ():
        family = one.trigger.partition(" fails: ")[2]  # the output may name the kind of error without the check
        if dedup.has(SITUATION + one.trigger) or (family and dedup.has(SITUATION + family)):
            known.append(one)
    heading = "This kept failing here:"
    if not known:
        return ContextSection(heading, [])
    from helix_graph.graph.node_labels import labels_of_call

    labels = labels_of_call(call.tool, call.arguments, root=root.parent)
    lines = dedup.take(anti_pattern_sentence(one) for one in known if one.action in labels)
    return ContextSection(heading, [ContextLine(line) for line in lines])


#: The tools that change a file, by the agents' names for them, in lower case without signs.
_EDITING = frozenset(
    (
        "edit",
        "multiedit",
        "write",
        "notebookedit",
        "create",
        "replace",
        "writefile",
        "strreplaceeditor",
        "searchreplace",
    )
)
#: A run after which a check passed again, as `FragilePlace.sentence` has it.
_RUN = Regex(r"(?<=a run of )(.+?)(?= \(\d+ of \d+\))")
_PATHS = ("file_path", "filePath", "path", "notebook_path", "target_file")


def fragile_section(call: HookCall, root: Path, dedup: SessionDedup) -> ContextSection:
    """The line of the file that is about to be changed, if there is one and the session has not had it."""
    path = _edited(call, project=root.parent)
    line = fragile_line(root, path) if path else ""
    lines = [ContextLine(_with_names_quoted(line)) for _ in dedup.take([f"fragile {path}"])] if line else []
    heading = f"Checks failed more often after changes of {logged_name_or_quoted(path)}:" if lines else ""
    return ContextSection(heading, lines)


def _with_names_quoted(line: str) -> str:
    """The line with the names of checks and files, which a log chose, quoted where they read as sentences."""
    check, failed, rest = line.partition(" failed in ")
    runs = _RUN.split(rest)  # every second is what was run
    parts = [
        label_or_quoted(part)
        if place % 2
        else " ".join(logged_name_or_quoted(word) if word else "" for word in part.split(" "))
        for place, part in enumerate(runs)
    ]
    return f"{label_or_quoted(check)}{failed}{''.join(parts)}"


def _edited(call: HookCall, *, project: Path) -> str:
    """The file, relative to the project; empty where none of the project is changed."""
    if "".join(sign for sign in call.tool.casefold() if sign.isalnum()) not in _EDITING:
        return ""
    named = next((value for name in _PATHS if isinstance(value := call.arguments.get(name), str) and value), "")
    if not named:
        return ""
    whole = os.path.abspath(named if named.startswith("/") else f"{call.cwd or project}/{named}")  # noqa: PTH100  (links stay)
    for folder in (str(project), call.cwd):  # another work tree of the same repository shares the memory
        if folder and whole.startswith(f"{folder}/"):
            return whole.removeprefix(f"{folder}/")
    return ""


#: With the marks around it a block of this many characters is less than 150 tokens, at three and a half for each.
MOST_CHARACTERS = 430
_LONGEST_MESSAGE = 80
_LONGEST_CHANGE = 200
#: A path or the words that say what verified a change; more of it is of no use for finding the place.
_LONGEST_PLACE = 70
#: Met once and left alone may only mean that the session had other work.
_FEWEST_NEVER = 2
#: A change and the command that belongs to it.
_MOST_FIXES = 2
LEVELS = {"exact": "the same error", "family": "the same kind of error"}
STATES = {"holds": "still in the file", "changed": "the file has changed since", "gone": "the file is gone"}


def precedent_lines(found: Row, authors: Mapping[str, str]) -> Iterator[str]:
    """The best precedent of each issue of a `SeenAnswer` as a row, as far as there is room.

    Of a shared session somebody else is the author, as ``authors`` has it.
    """
    room = MOST_CHARACTERS
    shown: set[int] = set()
    for one in found["precedents"]:
        if one["level"] not in LEVELS or one["issue"] in shown or not 0 <= one["issue"] < len(found["issues"]):
            continue
        shown.add(one["issue"])
        lines = list(_lines(one, found["issues"][one["issue"]], authors, room))
        room -= sum(map(len, lines))
        if room < 0:
            return
        yield from lines


def _lines(one: Row, issue: Row, authors: Mapping[str, str], room: int) -> Iterator[str]:
    met = issue["sessions"]
    message = quoted(issue["message"], longest=_LONGEST_MESSAGE)
    earlier = _sessions(issue, earlier="earlier ")
    if not one["fixes"]:
        tried = one.get("tried") or []
        if met >= _FEWEST_NEVER or tried or one["reply"]:
            first = f"{message}: the same error in {earlier}, repaired in none"
            if one["reply"]:
                said = quoted(one["reply"], longest=_LONGEST_CHANGE)
                first += f"; a person then said {said} {_source(one, one['line'], authors)}"
            yield first
            yield from _tried(one, tried, authors, room=room - len(first))
        return
    level = "the same line" if one["message"].strip() == issue["message"].strip() else LEVELS[one["level"]]
    first = f"{message}: {level} in {earlier}, repaired in {_repaired_in(issue)}"
    yield first
    room -= len(first)
    for place, fix in enumerate(one["fixes"][:_MOST_FIXES]):
        line = _repair(one, fix, authors, room=room)
        room -= len(line)
        if place and room < 0:
            return
        yield line


def _repaired_in(issue: Row) -> str:
    fixed, shared = issue["fixed"], issue["shared_fixed"]
    is_mixed = 0 < issue["shared"] < issue["sessions"]
    return f"{fixed - shared} of yours and {shared} shared" if is_mixed and shared else str(fixed)


def _source(one: Row, line: int | None, authors: Mapping[str, str]) -> str:
    """Where a log has it, and of a shared session who wrote it."""
    shared = ""
    if one["shared"]:
        author = quoted(authors.get(one["episode"], ""), longest=_LONGEST_PLACE)
        shared = f"; shared by {author or 'an unknown author'}"
    return f"[session {one['session'][:8]}, line {line or '?'}{shared}]"


def _tried(one: Row, attempts: Sequence[Row], authors: Mapping[str, str], *, room: int) -> Iterator[str]:
    """What one of the sessions did about it, and what that failed with."""
    for attempt in attempts:
        how, failed = "tried in vain", "the same error"
        if not attempt["again"]:
            how, failed = "tried", f"then {quoted(attempt['message'], longest=_LONGEST_PLACE)}"
        done = quoted(attempt["command"] or attempt["chosen"], longest=_LONGEST_MESSAGE)
        line = f"{how}: {done} ({failed}) {_source(one, attempt['line'], authors)}"
        room -= len(line)
        if room < 0:
            return
        yield line


def _repair(one: Row, fix: Row, authors: Mapping[str, str], *, room: int) -> str:
    """The change in its own words, what verified it, whether it is still there, and where the log has it."""
    by = "" if fix["command"] and (fix["verified_by"] or "").startswith("run ") else fix["verified_by"]
    facts = [cut_line(f"verified: {label_or_quoted(by or 'it succeeded')}", _LONGEST_PLACE)]
    if state := STATES.get(fix["state"] or "", f"now in {quoted(fix['now_at'])}" if fix["now_at"] else ""):
        facts.append(state)
    around = f" ({'; '.join(facts)}) {_source(one, fix['line'], authors)}"
    done = "repaired by "
    if fix["path"]:
        done += f"editing {quoted(fix['path'], longest=_LONGEST_PLACE)}: "
    elif word := word_left_out(one["label"].partition(" fails: ")[0], fix["command"] or ""):
        done += f"leaving out {quoted(word)}: "
    longest = max(min(_LONGEST_CHANGE, room - len(done) - len(around)), _LONGEST_PLACE)
    return f"{done}{quoted(fix['command'] or fix['quote'] or fix['chosen'], longest=longest)}{around}"
