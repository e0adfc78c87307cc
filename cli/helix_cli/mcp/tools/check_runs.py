"""What the runs of checks say: when they fail, which files are fragile, how the project is run."""

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from helix_cli.mcp.tool_declaration import tool

if TYPE_CHECKING:
    from helix_graph import Memory


@tool(title="When checks fail here", effect="reads", shows="checks_and_runbook:render_checks")
def checks(memory: "Memory") -> object:
    """How often each test runner, linter and compiler of this project fails after a change, and after what kind of
    change it fails more or less often: which folder, how many files, how large. Use it to choose what to run, and when.
    """
    return memory.causality.checks()


@tool(title="Fragile files", effect="reads", shows="checks_and_runbook:render_fragile")
def fragile(
    memory: "Memory",
    path: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="A file or folder, relative to the project; without it, every fragile place."),
    ] = None,
) -> object:
    """Files and folders after whose change checks failed more often than elsewhere, with what passed there again, and
    files that are changed together. Use it before you edit a file that you do not know.
    """
    return memory.causality.fragile(path)


@tool(title="How this project is run", effect="reads", shows="checks_and_runbook:render_runbook")
def runbook(memory: "Memory") -> object:
    """How this project is tested, linted, built and formatted, with pass rates and durations, what has to run first,
    and which commands fail here with what worked instead. Use it before you run anything for the first time.
    """
    return memory.causality.runbook()
