"""Reports in the shapes of the ai-agents project, written to a folder and read as episodes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from helix_episodes.extraction.pipeline import extract
from helix_episodes.readers import read_sessions
from helix_episodes.verification import verify

if TYPE_CHECKING:
    from pathlib import Path

    from helix_episodes.model import Episode


def in_json(folder: Path, *entries: object, **more: object) -> Episode:
    path = folder / "2026-04-01-session-1.json"
    document = {"session": {"objective": "Tidy"}, "protocolCompliance": {}, "workLog": list(entries), **more}
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    return standing(path)


def in_markdown(folder: Path, body: str) -> Episode:
    path = folder / "2026-04-01-session-2.md"
    path.write_text(
        f"# Session 2: Tidy\n\n**Date**: 2026-04-01\n\n## Objective\n\nTidy up.\n\n{body}\n", encoding="utf-8"
    )
    return standing(path)


def standing(path: Path) -> Episode:
    """The episode of a log, every quotation of which stands on its line."""
    (session,) = read_sessions(path)
    episode = extract(session)
    assert [one for one in verify(episode, path) if one.result != "found"] == []
    return episode


def links(episode: Episode) -> set[tuple[str, str, str, str]]:
    names = {one.id: one.chosen for one in episode.decisions} | {one.id: one.content for one in episode.events}
    return {(names[one.source], one.reason, one.type, names[one.target]) for one in episode.links}


def failures(episode: Episode) -> list[str]:
    return [event.content for event in episode.events if event.type == "error"]


def decisions(episode: Episode) -> list[str]:
    return [decision.chosen for decision in episode.decisions]
