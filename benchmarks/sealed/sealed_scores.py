"""What of an annotated session is found, and what of ours is right: the rules of the README's "How it is scored"."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from sealed_places import Places

Annotated: TypeAlias = dict[str, Any]
#: An episode file as JSON: one scorer serves every version.
Episode: TypeAlias = dict[str, Any]
Measure = Literal["decisions", "failures", "fixes", "credits"]
#: The annotator's and our verdict of one item: found or missed, right or false; a *second* is right as one more
#: statement on what another of ours has found. In a log that is one document it is right only for a fix of the very
#: result that the other one stands on.
Verdict = Literal["hit", "second", "second in document", "miss"]

#: The kind of a fix whose error is at no annotated failure.
NO_FAILURE = "no failure"
_EDITS = {"edit", "create", "delete"}
_LEFT_OUT_NOTES = ("no match", "pending only")


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One annotated item (``wanted``) or one of ours, with its kind and how it fared."""

    measure: Measure
    wanted: bool
    kind: str
    verdict: Verdict


@dataclass(frozen=True)
class Mode:
    """What is left out on both sides."""

    name: str
    unsure: bool = False
    repeats: bool = False

    def leaves_out(self, item: Annotated) -> bool:
        """Whether an annotated item neither counts as missed nor makes one of ours false."""
        left_out = item.get("kind") == "refused" or str(item.get("note", "")).startswith(_LEFT_OUT_NOTES)
        unsure = self.unsure and item.get("unsure", False)
        return bool(left_out or unsure or (self.repeats and "repeat_of" in item))


#: The first is the figure.
MODES = (
    Mode("without unsure", unsure=True),
    Mode("all"),
    Mode("without repeats", repeats=True),
    Mode("without unsure and repeats", unsure=True, repeats=True),
)


def score(gold: Annotated, episodes: Sequence[Episode], places: Places, mode: Mode) -> list[Judged]:
    """All items of one session; without an episode everything is missed."""
    ours = _Ours(episodes, places)
    found = _judged("decisions", gold["decisions"], ours.decisions, _decision_rule(gold, ours, places), mode, places)
    if not gold["decisions_complete"]:
        found = [one for one in found if one.wanted]
    failures = gold["failures"]

    def stands(item: Annotated, error: _Statement) -> bool:
        return item["line"] in error.place

    found += _judged("failures", failures, ours.errors, stands, mode, places)
    kinds = {one["line"]: one["kind"] for one in failures}
    fixes = [{**one, "failure_kind": kinds.get(one["failure_line"], NO_FAILURE)} for one in gold["fixes"]]
    credited = [replace(one, kind=_kind_of_failure(one, kinds)) for one in ours.fixes]
    found += _judged("fixes", fixes, credited, _fix_rule(failures), mode, places)
    return found + _credits(gold["fixes"], ours.credits, _fix_rule(failures), mode)


@dataclass(frozen=True)
class _Statement:
    """One of ours: its kind, its own lines, their place, and for decisions the file."""

    kind: str
    lines: tuple[int, ...]
    place: frozenset[int]
    said: frozenset[int] = frozenset()
    path: str | None = None
    changes: tuple[frozenset[int], ...] = ()


class _Ours:
    """What the episodes of one log say, in places."""

    def __init__(self, episodes: Sequence[Episode], places: Places) -> None:
        self.places = places
        self.decisions: list[_Statement] = []
        self.errors: list[_Statement] = []
        self.fixes: list[_Statement] = []
        self.credits: list[_Statement] = []
        for episode in episodes:
            self._add(episode)

    def _add(self, episode: Episode) -> None:
        decisions = {one["id"]: self._statement(one, _kind(one)) for one in episode.get("decisions", ())}
        events = {one["id"]: self._statement(one, one["type"]) for one in episode.get("events", ())}
        self.decisions += decisions.values()
        self.errors += (one for one in events.values() if one.kind == "error")
        of_id = decisions | events
        for fix in episode.get("fixes", ()):
            error, changes = of_id[fix["error"]], tuple(of_id[change].place for change in fix["changes"])
            self.fixes.append(_Statement("fix", error.lines, error.place, changes=changes))
            self.credits += (_Statement("fix", error.lines, error.place, changes=(one,)) for one in changes)

    def _statement(self, one: dict[str, Any], kind: str) -> _Statement:
        evidence = one.get("evidence") or {}
        own = () if evidence.get("file") else (evidence.get("line"), *evidence.get("also", ()))
        lines = tuple(line for line in own if line)
        path = (one.get("action") or {}).get("path")
        place, said = self.places.ours(lines), self.places.ours(lines, words=True)
        return _Statement(kind, lines, place, said=said, path=path)


def _kind_of_failure(fix: _Statement, kinds: dict[int, str]) -> str:
    return next((kinds[line] for line in sorted(fix.place) if line in kinds), NO_FAILURE)


def _kind(decision: dict[str, Any]) -> str:
    verb = (decision.get("action") or {}).get("verb")
    if decision.get("stated") or verb in {None, "choose"}:
        return "stated"
    return "edit" if verb in _EDITS else "delegation" if verb == "delegate" else "command"


def _decision_rule(gold: Annotated, ours: _Ours, places: Places) -> Callable[[Annotated, _Statement], bool]:
    edits = [one for one in ours.decisions if one.kind == "edit"]
    ends = sorted({one["line"] for one in gold["decisions"] if one["kind"] in {"command", "delegation"}})
    ends = sorted({*ends, *places.prompts})

    def matches(item: Annotated, one: _Statement) -> bool:
        lines = {item["line"], *item.get("lines", ())}
        if item["kind"] == "stated" or one.kind == "stated":
            return item["kind"] == one.kind and bool(lines & one.said)
        if item["kind"] == "edit" and one.kind == "edit":
            here = {other.path for other in edits if lines & other.place}
            named = {path for path in here if path and _names(item["chosen"], path)}
            files = named or here - _named_by_others(gold, item, here)
            if lines & one.place:
                return one.path in files
            end = next((end for end in ends if end > item["line"]), max(one.place, default=0) + 1)
            within = any(item["line"] < line < end for line in one.place)
            return within and (one.path in files if here else bool(one.path and _names(item["chosen"], one.path)))
        if not lines & one.place:
            return False
        # one call may be called an edit or a command where a line is one call
        return item["kind"] == one.kind or (not places.document and {item["kind"], one.kind} == {"edit", "command"})

    return matches


def _named_by_others(gold: Annotated, item: Annotated, paths: set[str | None]) -> set[str | None]:
    """The files that other annotated edits at an edit's line are about."""
    others = [one for one in gold["decisions"] if one is not item and one["kind"] == "edit"]
    near = [one["chosen"] for one in others if one["line"] == item["line"]]
    return {path for path in paths if path and any(_names(words, path) for words in near)}


def _names(words: str, path: str) -> bool:
    """Whether words name a file, with its ending or without."""
    name = PurePosixPath(path).name
    stem = name.partition(".")[0]
    names = [re.escape(one) for one in (name, stem) if one == name or len(one) > 3]
    return bool(re.search(rf"(?<![\w-])(?:{'|'.join(names)})(?![\w-]|\.\w)", words, re.IGNORECASE))


def _fix_rule(failures: Sequence[Annotated]) -> Callable[[Annotated, _Statement], bool]:
    first: dict[int, int] = {one["line"]: one["repeat_of"] if "repeat_of" in one else one["line"] for one in failures}

    def root(line: int) -> int:
        while first.get(line, line) != line:
            line = first[line]
        return line

    def matches(item: Annotated, one: _Statement) -> bool:
        same = {item["failure_line"]} | {line for line in first if root(line) == root(item["failure_line"])}
        return bool(same & one.place) and any(set(item["change_lines"]) & change for change in one.changes)

    return matches


def _judged(
    measure: Measure,
    items: Sequence[Annotated],
    ours: Sequence[_Statement],
    matches: Callable[[Annotated, _Statement], bool],
    mode: Mode,
    places: Places,
) -> list[Judged]:
    counted = [item for item in items if not mode.leaves_out(item)]
    candidates = [[place for place, one in enumerate(ours) if matches(item, one)] for item in counted]
    owner = one_to_one(candidates)
    found = set(owner.values())
    judged = [
        Judged(
            measure=measure,
            wanted=True,
            kind=item.get("failure_kind") or item["kind"],
            verdict="hit" if number in found else "miss",
        )
        for number, item in enumerate(counted)
    ]
    meeting = {place for places_of_item in candidates for place in places_of_item}
    results = {ours[place].lines for place in owner} if measure == "fixes" else set()
    for place, one in enumerate(ours):
        if place in owner:
            judged.append(Judged(measure=measure, wanted=False, kind=one.kind, verdict="hit"))
        elif place in meeting and not places.document:
            judged.append(Judged(measure=measure, wanted=False, kind=one.kind, verdict="second"))
        elif place in meeting and one.lines in results:
            judged.append(Judged(measure=measure, wanted=False, kind=one.kind, verdict="second in document"))
        elif not any(matches(item, one) for item in items if mode.leaves_out(item)):
            judged.append(Judged(measure=measure, wanted=False, kind=one.kind, verdict="miss"))
    return judged


def _credits(
    fixes: Sequence[Annotated], ours: Sequence[_Statement], matches: Callable[[Annotated, _Statement], bool], mode: Mode
) -> list[Judged]:
    """Each change line of a fix, found by any credit (a run of edits has several), and each credit of ours."""
    annotated = [{**fix, "change_lines": [line]} for fix in fixes for line in fix["change_lines"]]
    counted = [item for item in annotated if not mode.leaves_out(item)]
    judged = []
    for item in counted:
        verdict: Verdict = "hit" if any(matches(item, one) for one in ours) else "miss"
        judged.append(Judged(measure="credits", wanted=True, kind="credit", verdict=verdict))
    for one in ours:
        if any(matches(item, one) for item in counted):
            judged.append(Judged(measure="credits", wanted=False, kind="credit", verdict="hit"))
        elif not any(matches(item, one) for item in annotated):
            judged.append(Judged(measure="credits", wanted=False, kind="credit", verdict="miss"))
    return judged


def one_to_one(candidates: Sequence[Collection[int]]) -> dict[int, int]:
    """The greatest number of pairs in which each item and each candidate is used once; the item by its candidate."""
    owner: dict[int, int] = {}

    def place(item: int, tried: set[int]) -> bool:
        for candidate in candidates[item]:
            if candidate not in tried:
                tried.add(candidate)
                if candidate not in owner or place(owner[candidate], tried):
                    owner[candidate] = item
                    return True
        return False

    for item in range(len(candidates)):
        place(item, set())
    return owner
