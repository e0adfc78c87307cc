"""Are the sentences that readers stumbled over gone, from messages and pages alike?

Each is one that a newcomer quoted (what it meant is said better in its place now), cut to what no other sentence has.
Quotations of sessions are none of ours; decision records may quote what was changed.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
STUMBLES = (
    "no label, message, command or path of an episode contains it",
    "links it to an error that was never repaired",
    "read from its own log alone",
    "a suspect is no verdict",
    "share of judged sessions that succeeded; thin",
    "Too early to hold edges against",
    "A claim of the logs is not a proof",
    "what goes together need not bring about",
    "of these days nobody knows",
    "errors of these days",
    "no check ran again, none is seen",
    "nodes met again",
    "Cut before writing",
    "are joined to nothing",
    "stand at a label that another session has",
    "the counts are true, a rate would promise",
    "promise more than they hold",
    "What the sessions say of them",
    "met at least so often",
    "that a lot kept it from",
    "withheld by lot",
    "nobody can tell what insights do",
    "the same check failing otherwise",
    "the check it left passing fails before any change",
    "Silence the memory",
    "works by itself rests until",
    "Twice is once",
    "mind whom you give it to",
    "What has changed cannot be told",
    "shows what there is",
    "not told apart",
    "stored apart",
    "what is in place",
    "is met less",
    "nobody takes it in",
    "whoever can commit",
    "in which folder the session ran",
    "remedy in common;",
    "active minutes",
    "of either outcome are needed",
    "the whole is in",
    "No rule is missing that",
    "off is there",
    "No result; found",
    "A habit, not an answer",
    "drawn towards the check's own.",
    "Left out are",
    "texts of theirs",
)
#: Where a string goes on in the next line of a program.
_JOINT = re.compile(r'"\n\s*f?"')


def written() -> list[tuple[str, str]]:
    """All that the packages say, and every page but decision records, on one line each."""
    pages = [path for path in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")] if "decisions" not in path.parts]
    sources = [
        path
        for package in ("cli", "helix_graph", "episodes")
        for end in ("py", "j2", "js")
        for path in (ROOT / package).rglob(f"*.{end}")
    ]
    found = [(str(path.relative_to(ROOT)), path.read_text()) for path in [*pages, *sources]]
    return [(name, " ".join(_JOINT.sub("", text).split())) for name, text in found]


@pytest.fixture(scope="module")
def everything() -> list[tuple[str, str]]:
    return written()


def test_what_is_looked_through_is_all_that_users_read(everything: list[tuple[str, str]]) -> None:
    whole = " ".join(text for _, text in everything)
    assert "Showing the nearest" in whole or "Did you mean" in whole
    assert "Running it again changes nothing" in whole


def test_sentences_that_were_rewritten_are_gone(everything: list[tuple[str, str]]) -> None:
    phrases = {phrase: phrase.casefold() for phrase in STUMBLES}
    texts = [(name, text.casefold()) for name, text in everything]
    assert [(phrase, name) for phrase, folded in phrases.items() for name, text in texts if folded in text] == []
