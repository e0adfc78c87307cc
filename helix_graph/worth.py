"""Would this memory have paid? The project's own history, replayed in time order.

Each failure of a session is put to a memory that holds the earlier sessions alone, as the hook after a failing tool
would, and what is shown is compared with what that session did later: the same command, the same file, or the same kind
of change (both edit the file that the failure names, or the tool's own repair of that very issue is shown, which the
session made by hand or by another name). Steps and minutes between the failure and its repair are an upper bound of
what was to be saved. Beside it stand simpler ways to choose a remedy, and a placebo.

What this cannot know: whether an agent would have believed what it was shown, and what would have followed.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import msgspec

from helix_episodes.errors import HelixGraphError, NotFound
from helix_episodes.extraction.shell.commands import decisive, parse_command
from helix_episodes.model import sortable_time
from helix_episodes.readers import read_sessions
from helix_graph.graph.error_precedents import find_precedents
from helix_graph.graph.graph_db import open_graph
from helix_graph.graph.past_remedies import Past, is_of_kind, repairs_by_itself, word_left_out
from helix_graph.insights.holdout import uniform_draw
from helix_graph.issues.api import Issues
from helix_graph.seed_api import SeedGraph
from helix_graph.stats.intervals import Interval, wilson_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from helix_episodes.model import Decision, Episode, Event
    from helix_graph.graph.error_precedents import Row
    from helix_graph.rules.model import Proposal

Way = Literal["this memory", "nothing", "lexical search", "newest of the check", "placebo"]
WAYS: tuple[Way, ...] = get_args(Way)
#: What a hook shows of one failure, and how close it has to be.
_MOST_SHOWN, _LEVELS = 2, frozenset({"exact", "family"})
#: Fewer words in common are of another error.
_ALIKE = 0.5
#: A search that looks at all words of a long message finds everything.
_MOST_WORDS = 40
_CANNOT_KNOW = (
    "Steps and minutes are an upper bound: they lay between the failure and its repair. Not known: whether an agent "
    "would have followed what it was shown. A remedy that differs from the later one may have worked too."
)


class WayResult(msgspec.Struct, frozen=True, kw_only=True):
    """One way to choose a remedy: for how many failures it showed one, and how these compare with what was done.

    ``same`` were the later remedy, ``alike`` the same kind of change, ``other`` neither; the rest was never repaired.
    ``by_tool`` of those alike are the tool's own repair of this very issue, where the session did the same by hand or
    by another name. ``steps`` and ``minutes`` lay between failure and repair where it was the same or alike.
    """

    way: Way
    shown: int = 0
    same: int = 0
    alike: int = 0
    by_tool: int = 0
    other: int = 0
    steps: float = 0.0
    minutes: float = 0.0
    share: Interval | None = None


class RulesLearnt(msgspec.Struct, frozen=True, kw_only=True):
    """What rules that were proposed after the earlier half of the sessions would have been about in the later half."""

    rules: tuple[str, ...]
    covered: int
    failures: int
    steps: float
    minutes: float


class WorthReport(msgspec.Struct, frozen=True, kw_only=True):
    """Failures of a history, and what each way would have shown. ``repaired`` counts those whose repair is known.

    ``quoted`` counts those whose log is gone, so that only a quotation of the output was put.
    """

    sessions: int
    failures: int
    quoted: int
    repaired: int
    ways: tuple[WayResult, ...]
    rules: RulesLearnt
    note: str = _CANNOT_KNOW


class _Change(NamedTuple):
    """What was done: a command or the file of an edit, and whether that is the file which the failure names.

    ``by_tool`` says that the command lets a tool repair what it complains of.
    """

    command: str
    path: str = ""
    named: bool = False
    by_tool: bool = False


class _Case(NamedTuple):
    """One failure with what repaired it later, in its session."""

    session: str
    check: str
    issue: str
    quoted: bool
    words: frozenset[str]
    text: str
    changes: tuple[_Change, ...]
    steps: float
    minutes: float


def replay(
    episodes: Sequence[Episode],
    folder: Path,
    *,
    logs: Iterable[Path],
    proposals: Callable[[Issues, str], Sequence[Proposal]],
    progress: Callable[[int, int, Path], None] | None = None,
) -> WorthReport:
    """Replays the episodes whose files are in ``folder``.

    ``proposals`` are the rules that some issues ask for, of those that were in no file at a time.

    A failure is put as its output has it where its log is among ``logs``, else as the episode quotes it: that finds
    less, for an output says more than the line that was quoted of it.
    """
    by_name = {log.name: log for log in logs}
    ordered = sorted(episodes, key=lambda one: (sortable_time(one.timestamp), one.id))
    counts: dict[Way, Counter[str]] = {way: Counter() for way in WAYS}
    earlier: list[_Case] = []
    failures = repaired = quoted = of_earlier_half = 0
    middle = (len(ordered) + 1) // 2
    learnt: Sequence[Proposal] = ()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        graph = SeedGraph(root / "episodes", root / "causality")
        (root / "episodes").mkdir()
        for place, episode in enumerate(ordered):
            file = folder / f"{episode.id}.json"
            if progress is not None:
                progress(place, len(ordered), file)
            cases = list(_cases(episode, by_name))
            if cases or place == middle:
                graph.compile()
            if place == middle:
                learnt, of_earlier_half = proposals(Issues(graph), sortable_time(episode.timestamp)), failures
            for case in cases:
                failures += 1
                repaired += bool(case.changes)
                quoted += case.quoted
                for way, shown in _shown(graph, case, earlier).items():
                    _count(counts[way], case, shown)
            earlier += [case for case in cases if case.changes]
            shutil.copyfile(file, root / "episodes" / file.name)
        graph.compile()
        later = {one.session for one in ordered[middle:]}
        rules = _covered(learnt, Issues(graph), later, failures=failures - of_earlier_half)
    ways = tuple(_result(way, counts[way]) for way in WAYS)
    return WorthReport(
        sessions=len(ordered), failures=failures, quoted=quoted, repaired=repaired, ways=ways, rules=rules
    )


def _cases(episode: Episode, logs: Mapping[str, Path]) -> Iterator[_Case]:
    """The failing results of a session, without those of which a hook has spoken: each issue is met anew once."""
    decisions = {one.id: one for one in episode.decisions}
    repairs = {one.error: one.changes for one in episode.fixes}
    outputs = _outputs(episode, logs)
    results: dict[int | str, list[Event]] = {}
    known: set[str] = set()
    for event in episode.events:
        if event.type == "error" and not event.deliberate and event.check is not None:
            line = event.evidence.line if event.evidence and event.evidence.file is None else event.id
            results.setdefault(line, []).append(event)
    for line, events in results.items():
        issues = {one.fingerprint or one.content for one in events}
        if issues <= known:
            continue
        known |= issues
        made = [(decisions[name], one) for one in events for name in repairs.get(one.id, ()) if name in decisions]
        said = " ".join(one.message or one.content for one in events)
        shown = " ".join(one.message or "" for one in events)  # our own words for it are in no output
        costs = [one.cost for one in events if one.cost is not None]
        yield _Case(
            session=episode.session,
            check=events[0].check or "",
            issue=min(issues),
            quoted=line not in outputs,
            words=frozenset(re.findall(r"[a-z_]{3,}", said.casefold())[:_MOST_WORDS]),
            text=outputs.get(line, shown) if isinstance(line, int) else shown,
            changes=tuple(change for one in made if (change := _change(*one)) is not None),
            steps=sum(one.steps for one in costs),
            minutes=sum(one.seconds or 0 for one in costs) / 60,
        )


def _outputs(episode: Episode, logs: Mapping[str, Path]) -> dict[int, str]:
    """What each line of the session's log shows as a result; nothing where the log is gone."""
    log = logs.get(episode.provenance.log) if episode.provenance else None
    if log is None:
        return {}
    try:
        steps = [step for one in read_sessions(log) if one.id == episode.session for step in one.steps]
    except HelixGraphError:  # it is another file by now: what the episode quotes is asked instead
        return {}
    return {step.source.line: step.text for step in steps if step.kind == "result" and step.source.file is None}


def _change(decision: Decision, event: Event) -> _Change | None:
    action = decision.action
    if action is None or action.suppresses:
        return None
    if action.command:
        return _of_command(action.command, event.check or "")
    return _Change("", action.path, named=_is_named(action.path, event.path)) if action.path else None


def _of_command(command: str, check: str) -> _Change:
    return _Change(_main_command(command, check), by_tool=repairs_by_itself(command))


def _is_named(path: str, named: str | None) -> bool:
    return bool(named) and path.rpartition("/")[2] == (named or "").rpartition("/")[2]


def _main_command(command: str, check: str) -> str:
    """The program with its subcommand that a command was run for: what had failed, where that is in it.

    Of one that only leaves out the first word of what had failed, that.
    """
    if left_out := word_left_out(check, command):
        return f"without {left_out}"
    parts = tuple(one for one in parse_command(command) if one.joiner != "|")
    named = [f"{one.program} {one.subcommand or ''}".strip() for one in parts]
    if check in named:
        return check
    part = decisive(parts)
    return named[parts.index(part)] if part is not None else command


def _shown(graph: SeedGraph, case: _Case, earlier: Sequence[_Case]) -> dict[Way, tuple[_Change, ...]]:
    """What each way shows for a failure; nothing where it has nothing."""
    of_check = [one for one in earlier if one.check == case.check]
    others = [one for one in of_check if one.issue != case.issue]
    alike = max(earlier, key=lambda one: _overlap(one.words, case.words), default=None)
    luck = uniform_draw("placebo", case.session, case.issue)
    found: dict[Way, tuple[_Change, ...]] = {
        "this memory": _of_memory(graph, case),
        "nothing": (),
        "lexical search": _for(case, alike) if alike and _overlap(alike.words, case.words) >= _ALIKE else (),
        "newest of the check": _for(case, of_check[-1]) if of_check else (),
        "placebo": _for(case, others[int(luck * len(others))]) if others else (),
    }
    return found


def _for(case: _Case, earlier: _Case) -> tuple[_Change, ...]:
    """The changes of an earlier case: that a tool repaired another issue says nothing of this one."""
    same = earlier.issue == case.issue
    return tuple(change._replace(by_tool=change.by_tool and same) for change in earlier.changes)


def _of_memory(graph: SeedGraph, case: _Case) -> tuple[_Change, ...]:
    """The remedies that a hook would show."""
    if not case.text.strip():
        return ()
    with open_graph(graph.path_of_file) as connection:
        answer = find_precedents(Past(connection), case.text, limit=_MOST_SHOWN, nearest=True)
    near = [one for one in answer["precedents"] if is_of_kind(one["label"], answer["looked_for"])]
    # Of each issue the hook tells the first.
    best = {one["issue"]: one for one in reversed(near) if one["level"] in _LEVELS}
    return tuple(_of_remedy(one["fixes"][0], one, case.check) for one in reversed(best.values()) if one["fixes"])


def _of_remedy(remedy: Row, precedent: Row, check: str) -> _Change:
    if remedy["command"]:
        change = _of_command(remedy["command"], check)
        return change._replace(by_tool=change.by_tool and precedent["level"] == "exact")
    path = remedy["path"] or ""
    return _Change("", path, named=_is_named(path, precedent["path"]))


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


def _count(counts: Counter[str], case: _Case, shown: Sequence[_Change]) -> None:
    if not shown:
        return
    counts["shown"] += 1
    if not case.changes:
        return
    pairs = [(one, change) for one in shown for change in case.changes]
    same = any(one.command == change.command and one.path == change.path for one, change in pairs)
    alike = any(one.named and change.named for one, change in pairs)
    by_tool = any(one.by_tool and (change.named or change.by_tool) for one, change in pairs)
    counts["same" if same else "alike" if alike or by_tool else "other"] += 1
    counts["by_tool"] += by_tool and not (same or alike)
    if same or alike or by_tool:
        # Counters hold whole numbers; thousandths are exact enough for what is summed.
        counts["steps"] += round(case.steps * 1000)
        counts["minutes"] += round(case.minutes * 1000)


def _result(way: Way, counts: Counter[str]) -> WayResult:
    compared = counts["same"] + counts["alike"] + counts["other"]
    return WayResult(
        way=way, shown=counts["shown"], same=counts["same"], alike=counts["alike"], by_tool=counts["by_tool"],
        other=counts["other"],
        steps=counts["steps"] / 1000, minutes=counts["minutes"] / 1000,
        share=wilson_interval(counts["same"] + counts["alike"], compared) if compared else None,
    )  # fmt: skip


def _covered(learnt: Iterable[Proposal], issues: Issues, later: set[str], *, failures: int) -> RulesLearnt:
    """The failures of the later sessions that are of an issue which a rule was proposed for."""
    rules = tuple(learnt)
    met = []
    for rule in rules:
        try:
            own = (one for one in issues.show(rule.issue).occurrences if one.session in later and not one.deliberate)
            met += list({one.session: one for one in own}.values())
        except NotFound:
            continue
    return RulesLearnt(
        rules=tuple(one.sentence for one in rules), covered=len(met), failures=failures,
        steps=sum(one.steps or 0 for one in met), minutes=sum(one.minutes or 0 for one in met),
    )  # fmt: skip
