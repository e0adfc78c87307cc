"""Events of a report: a statement as a milestone, a test run, a failure or a commit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.evidence import evidence_of, timestamp_of
from helix_episodes.extraction.words import line
from helix_episodes.model import Event

if TYPE_CHECKING:
    from helix_episodes.extraction.troubles_told import Trouble
    from helix_episodes.session import Step

_CONTENT_LIMIT = 240
_PASSED = re.compile(
    r"\b(?P<count>\d[\d,]*)\s+(?:[\w./-]+\s+){0,3}?(?:tests?\s+)?(?:pass(?:ed|ing)?|green)\b", re.IGNORECASE
)
_ALL_PASS = re.compile(r"\ball (?:[\w./-]+ ){0,3}tests? (?:are )?(?:pass(?:ed|ing)?|green)\b", re.IGNORECASE)
_FAILED = re.compile(r"\b(?P<count>[1-9]\d*)\s+(?:tests? )?(?:failed|failing|failures?)\b", re.IGNORECASE)
_RUNNER = re.compile(
    r"\b(pytest|pester|jest|vitest|mypy|ruff|go test|cargo test|rspec|dotnet test|eslint)\b", re.IGNORECASE
)
#: Words with which somebody says that it came out well, and those that take it back.
_GOOD = re.compile(
    r"\b(?:now \w+|works?|worked|correct(?:ly)?|confirmed|clean|green|pass(?:es|ed)?|succe\w+|resolved|complete[d]?|"
    r"verified|accepted|approved|merged|eliminated|improved|reduced|achieved|fixed|validated|implemented|simplified|restored|"
    r"efficient|easier|faster|matches|no (?:\w+ )?(?:errors|regressions|failures|conflicts))\b",
    re.IGNORECASE,
)
_NOT_YET = re.compile(
    r"\b(?:not|no longer|never|pending|partial\w*|awaiting|to be|will|should|but|however|fail\w*)\b", re.IGNORECASE
)


def event_of(step: Step) -> Event:
    """A statement that tells of no failure: a test run where it says that tests passed, else a milestone."""
    return _passed(step) or _event(step, type="milestone", content=step.text)


def outcome_of(step: Step) -> Event:
    """What a log says came of a decision; its status tells whether that was good."""
    event = event_of(step)
    good = event.type == "milestone" and _GOOD.search(step.text) and not _NOT_YET.search(step.text)
    return msgspec.structs.replace(event, status="ok") if good else event


def reason_of(step: Step, reason: str) -> Event:
    """What a decision was made for."""
    return _event(step, type="milestone", content=reason)


def failure_of(step: Step, trouble: Trouble) -> Event:
    """A failure as told; one that a lesson looks back on is no run of a check."""
    looks_back = step.arguments.get("part") == "harm"
    failed = None if looks_back else _FAILED.search(trouble.said)
    runner = _RUNNER.search(trouble.said)
    return _event(
        step,
        type="error",
        content=trouble.said,
        check=(runner[1].casefold() if runner else "tests") if failed else None,
        family=trouble.family,
        message=line(trouble.said, limit=_CONTENT_LIMIT),
        failed=int(failed["count"]) if failed else None,
        status="error",
        quoted=trouble.quote or trouble.said,
    )


def commit_of(step: Step) -> Event:
    """A commit that a report names as the session's own."""
    return _event(step, type="commit", content=f"commit {step.text}", quoted=step.text, commit=step.text, status="ok")


def _passed(step: Step) -> Event | None:
    passed, everything = _PASSED.search(step.text), _ALL_PASS.search(step.text)
    if (passed is None and everything is None) or _FAILED.search(step.text):
        return None
    runner = _RUNNER.search(step.text)
    count = int(passed["count"].replace(",", "")) if passed else None
    check = runner[1].casefold() if runner else "tests"
    return _event(step, type="test", content=step.text, check=check, passed=count, status="ok")


def _event(step: Step, *, content: str, quoted: str = "", **fields: object) -> Event:
    return Event(
        id="",
        timestamp=timestamp_of(step),
        content=line(content, limit=_CONTENT_LIMIT),
        actor=step.actor,
        evidence=evidence_of(step, quoted or content),
        **fields,  # type: ignore[arg-type]  # checked by msgspec
    )
