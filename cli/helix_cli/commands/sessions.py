"""``sessions``: the questions about one session under one name; each is a command that other groups have too."""

from __future__ import annotations

from helix_cli.command_group import LazyGroup

sessions = LazyGroup(
    sections={
        "Commands": {
            "list": "commands.episode:list_episodes",
            "show": "commands.episode:show_episode",
            "explain": "commands.paths_and_causes:explain",
            "compare": "commands.paths_and_causes:contrast",
            "outcome": "commands.episode:outcome",
            "correct": "commands.episode:correct",
        }
    },
    ids=r"last(~\d+)?|(?=[0-9a-f-]*\d)[0-9a-f-]{3,36}|.*-session-.*",
    name="sessions",
    help=(
        "List, show, explain and compare sessions.\n\nA session is named by its id, by the beginning of its id, or as "
        "`last`, `last~1` (the one before) and so on."
    ),
)
