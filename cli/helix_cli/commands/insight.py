"""``insight``: remembered advice. Each command is one method of `helix_graph.insights.door.Insights`."""

from __future__ import annotations

import click

from helix_cli.app import LazyGroup

#: Where each command lives, in the order of the help.
LOCATIONS = {
    "store": "insight_primitives:store",
    "recall": "insight_primitives:recall",
    "get": "insight_primitives:get",
    "feedback": "insight_primitives:feedback",
    "decay": "insight_upkeep:decay",
    "prune": "insight_upkeep:prune",
    "health": "insight_upkeep:health",
    "neighbors": "insight_links:neighbors",
    "relate": "insight_links:relate",
    "connected": "insight_links:connected",
    "link": "insight_graph:link",
    "match": "insight_graph:match",
    "harvest": "insight_graph:harvest",
    "uplift": "insight_graph:uplift",
    "chunk": "insight_links:chunk",
    "consolidate": "insight_upkeep:consolidate",
    "reindex": "insight_upkeep:reindex",
    "rebuild": "insight_upkeep:rebuild",
    "edit": "insight_people:edit",
    "reject": "insight_people:reject",
    "mute": "insight_people:mute",
    "forget": "insight_people:forget",
    "why": "insight_people:why",
    "promote": "insight_people:promote",
    "export": "insight_transfer:export",
    "import": "insight_transfer:import_command",
}


def _begin(*, verbose: bool) -> None:
    click.get_current_context().obj = {"verbose": verbose}


insight = LazyGroup(
    locations=LOCATIONS,
    name="insight",
    help="Remember advice, find it again, and judge it by what followed.",
    callback=_begin,
    params=[
        click.Option(["-v", "--verbose"], is_flag=True, help="Log the call on stderr as one line of JSON."),
    ],
)
