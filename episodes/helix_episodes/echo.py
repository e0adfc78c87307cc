r"""Echo guard: what a memory put into a session is recognised there and never learnt again.

A memory that read its own advice as evidence would confirm itself: an insight injected into ten sessions would have
been "said" in ten sessions. So everything that is injected is put between two marker lines, written by `wrap` alone and
cut by `without_echo` before anything is read out of a text; the names of the insights in it are kept, because that they
were there *is* evidence. What an agent's program itself puts in (``<system-reminder>``) is cut in the same way, and
`is_own_tool` and `is_own_program` know the tools and commands by which an agent asks the memory, whose answers are the
memory's words and not the world's.

>>> print(injected := wrap("Run gofmt before the linter.", insights=["gofmt-first"]))
<helix-graph-memory insights="gofmt-first">
Run gofmt before the linter.
</helix-graph-memory>
>>> without_echo(f"Fix the cart.\n{injected}\nThanks!")
EchoFreeText(text='Fix the cart.\n\nThanks!', insights=('gofmt-first',))
"""

from __future__ import annotations

import re

from helix_episodes.light_imports import Regex, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

TAG = "helix-graph-memory"
OPENING, _CLOSING = f"<{TAG}", f"</{TAG}>"
#: The names are in the opening line; within JSON their quotation marks are escaped. A block whose end was cut off
#: goes to the end of the text, when its opening is at the beginning of a line: in mid-sentence it is only named.
_BEGIN = Regex(rf'<{TAG}(?: insights=\\?"([^"\\\n<>]{{0,8000}})\\?")?>')
#: What a reader who is not strict takes for a marker: in any case, with blanks, with whatever attributes.
_LIKE_MARKER = Regex(rf"<\s{{0,20}}/?\s{{0,20}}{TAG}(?![\w-])[^<>]{{0,8100}}>", re.IGNORECASE)
_REMINDER = ("<system-reminder>", "</system-reminder>")
#: Our server under the name by which it is registered, or by which a plugin brings it, as agents join it to a tool's
#: name: ``mcp__helix__seen`` (Claude Code, Codex, Qwen), ``mcp_helix_seen`` (Gemini), ``helix_seen`` (OpenCode),
#: ``helix-seen`` (Copilot).
_OWN_TOOL = Regex(
    r"(?:mcp__plugin_[A-Za-z0-9-]*helix[A-Za-z0-9_-]*?__|(?:mcp__?)?helix(?:[_-]graph)?(?:__|[_./-])).+", re.IGNORECASE
)
_OWN_PROGRAMS = frozenset({"helix-graph", "helix_cli"})
#: What would end the names or their line.
_NOT_IN_NAME = Regex(r'[",\\\n<>]')


class EchoFreeText(Value):
    """A text without what a memory put into it, and the names of the insights that were put in."""

    text: str
    insights: tuple[str, ...] = ()


def wrap(text: str, *, insights: Iterable[str] = ()) -> str:
    """A text to inject, between its marker lines; ``insights`` are the names of those in it.

    A text that holds a marker of its own (a log once quoted) loses it, so that it can't end the block before its end.
    """
    names = ", ".join(_NOT_IN_NAME.sub("-", name).strip() for name in insights)
    while (shorter := _LIKE_MARKER.sub("", text)) != text:  # cutting one marker can leave another
        text = shorter
    body = text.strip("\n")
    attribute = f' insights="{names}"' if names else ""
    return f"{OPENING}{attribute}>\n{body}\n{_CLOSING}"


def may_have_echo(text: str) -> bool:
    """Whether `without_echo` may find anything in a text; most have nothing of the kind."""
    return OPENING in text or _REMINDER[0] in text


def without_echo(text: str) -> EchoFreeText:
    """The text without injected blocks and reminders, and the insights that the blocks name, each once."""
    if OPENING not in text:
        return EchoFreeText(_without_reminders(text))
    remaining: list[str] = []
    names: dict[str, None] = {}
    position, last = 0, text.rfind(_CLOSING)
    while found := _BEGIN.search(text, position):
        end = None
        if found.end() <= last:
            end = text.find(_CLOSING, found.end()) + len(_CLOSING)
        elif found.start() == 0 or text[found.start() - 1] == "\n":
            end = len(text)  # it was cut off; within a line the opening is only mentioned
        remaining.append(text[position : found.start() if end else found.end()])
        position = end or found.end()
        if end:
            names.update((name, None) for part in (found[1] or "").split(",") if (name := part.strip()))
    remaining.append(text[position:])
    return EchoFreeText(_without_reminders("".join(remaining)), tuple(names))


def insights_in(value: object) -> Iterator[str]:
    """The insights named in the blocks of any text within a JSON value."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            if OPENING in one:
                yield from without_echo(one).insights
        elif isinstance(one, dict):
            left += reversed(one.values())
        elif isinstance(one, list):
            left += reversed(one)


def is_own_tool(name: str) -> bool:
    """Whether a tool is the memory's own, so that its results are the memory's words.

    >>> [is_own_tool(name) for name in ("mcp__helix__seen", "mcp_helix_seen", "helix_seen", "helix-seen")]
    [True, True, True, True]
    >>> [is_own_tool(name) for name in ("mcp__plugin_helix-graph_helix__seen", "mcp__mail__send", "helixate")]
    [True, False, False]
    """
    return _OWN_TOOL.fullmatch(name) is not None


def is_own_program(program: str) -> bool:
    """Whether a program is the memory's own command, however it was started."""
    return program in _OWN_PROGRAMS


def _without_reminders(text: str) -> str:
    """Without the reminders of the agent's program; one that is never closed stays, for nothing says where it ends."""
    opening, closing = _REMINDER
    remaining: list[str] = []
    position = 0
    while (start := text.find(opening, position)) >= 0 and (end := text.find(closing, start)) >= 0:
        remaining.append(text[position:start])
        position = end + len(closing)
    return "".join([*remaining, text[position:]]) if remaining else text
