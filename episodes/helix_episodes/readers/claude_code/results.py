"""How a call came out: from the flag, the exit code and Claude Code's own sentences, never from words in the output.

A result is marked ``is_error`` when a command failed, but just so when a person said no, when a permission was missing,
when somebody pressed escape, and when a call beside it failed first. Only the first is a failure of the agent's; the
others are told apart by sentences that the program writes in exactly one place each.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from helix_episodes.readers.claude_code.words import cut_injected
from helix_episodes.readers.tags import between

if TYPE_CHECKING:
    from collections.abc import Mapping

    from helix_episodes.session import Status, Step

_REJECTED_BEGINNINGS = (
    "The user doesn't want to proceed with this tool use.",
    "The user doesn't want to take this action right now.",
    "User rejected tool use",
    "The agent proposed a plan that was rejected by the user.",
)
# What stands between the program's sentence and the person's own words.
_WORDS_FOLLOW = ("the user said:\n", "The user provided the following reason for the rejection:")
# Not words of a person: the program reports that questions were waved away.
_QUESTIONS_WAVED_AWAY = "The user wants to clarify these questions."

_DENIED_BEGINNINGS = (
    "Claude requested permissions to",
    "This command requires approval",
    "Permission to use",
    "Permission for this",
    "Answer questions?",
    "This Bash command contains multiple operations.",
)
_DENIED_ANYWHERE = (
    "require approval:",
    "but you haven't granted it yet",
    "has been denied",
    "was blocked. For security, Claude Code",
    "denied this tool",
    "hook blocking error",
)
_INTERRUPTED = "[Request interrupted by user"
_ABORTED = "Command was aborted before completion"
_CANCELLED_BEGINNINGS = ("Sibling tool call errored", "Cancelled: parallel tool call")
_EXIT_CODE = re.compile(r"(?:Error: )?Exit code (-?\d{1,6})(?:\n|$)")
# Where the program's own sentence stands, so that a file that merely quotes one is not taken for it.
_SENTENCE_SPAN = 600
# grep without a match, diff with a difference, test that is false: the program shows them as no error. All end with 1.
_HARMLESS_EXIT = 1


class Result(NamedTuple):
    """What the agent saw and how it came out; ``words`` are the person's who rejected the call."""

    text: str
    status: Status
    exit_code: int | None = None
    words: str = ""


def read_result(*, block: Mapping[str, Any], extra: object, denial: object, ran: bool) -> Result:
    """The result in a ``tool_result`` block.

    ``extra`` is the line's ``toolUseResult`` (an object, a text, a list or nothing), ``denial`` its ``toolDenialKind``;
    ``ran`` tells that the call was a shell command, whose success means exit code 0.
    """
    raw = text_of(block.get("content"))
    if denial:
        return _denied(raw, denial=denial)
    if block.get("is_error") is True or _says_error(extra):
        return _read_error(raw)
    text = cut_injected(raw)
    if isinstance(extra, dict) and extra.get("interrupted") is True:
        return Result(text, "interrupted")
    return Result(text, "ok", _success_code(extra) if ran else None)


def _says_error(extra: object) -> bool:
    """The tool's own error object."""
    if isinstance(extra, str):
        return extra.startswith("Error: ")
    return isinstance(extra, dict) and extra.get("is_error") is True


def _read_error(raw: str) -> Result:
    text = _unwrapped(raw)
    span = text[:_SENTENCE_SPAN]
    if span.startswith(_REJECTED_BEGINNINGS):
        return Result(text, "rejected", words=_words_of_rejection(text))
    if span.startswith(_CANCELLED_BEGINNINGS):
        return Result(text, "cancelled")
    code, rest = _exit_code(text)
    if _was_interrupted(text):
        return Result(rest, "interrupted", code)
    if code is None and (span.startswith(_DENIED_BEGINNINGS) or any(mark in span for mark in _DENIED_ANYWHERE)):
        return Result(text, "denied")
    return Result(rest, "error", code)


def _denied(raw: str, *, denial: object) -> Result:
    text = _unwrapped(raw)
    if str(denial).startswith("user"):
        return Result(text, "rejected", words=_words_of_rejection(text))
    return Result(text, "denied")


def _unwrapped(raw: str) -> str:
    text = cut_injected(raw)
    if text.startswith("<tool_use_error>"):
        return between(text, "<tool_use_error>", "</tool_use_error>").strip() or text
    return text


def _words_of_rejection(text: str) -> str:
    for mark in _WORDS_FOLLOW:
        _, found, words = text.partition(mark)
        if found and not words.lstrip().startswith(_QUESTIONS_WAVED_AWAY):
            return words.strip()
    return ""


def _was_interrupted(text: str) -> bool:
    """Somebody pressed escape: the mark stands first or last, and a file's text between is not looked at."""
    return text.startswith(_INTERRUPTED) or _INTERRUPTED in text[-100:] or _ABORTED in text[:200]


def _exit_code(text: str) -> tuple[int | None, str]:
    """The exit code on the first line, and the output below it."""
    found = _EXIT_CODE.match(text)
    if found is None:
        return None, text
    return int(found[1]), text[found.end() :]


def _success_code(extra: object) -> int | None:
    """0, unless the command goes on in the background or ended with a harmless code."""
    if isinstance(extra, dict):
        if extra.get("backgroundTaskId"):
            return None
        if extra.get("returnCodeInterpretation"):
            return _HARMLESS_EXIT
    return 0


def plan_in(call: Step, extra: object) -> str:
    """The plan that was approved: as the result repeats it (a person may have changed it), else as it was handed in."""
    approved = extra.get("plan") if isinstance(extra, dict) else None
    return approved if isinstance(approved, str) and approved else str(call.arguments.get("plan", ""))


def was_created(text: str, extra: object) -> bool:
    """Whether a written file is new, by the result's type or, in old versions, by its sentence."""
    if isinstance(extra, dict):
        return extra.get("type") == "create"
    return text.startswith("File created successfully")


def answer_in(text: str, *, question: str) -> str:
    """The answer as the result words it: ``"question"="answer"``."""
    _, found, rest = text.partition(f'"{question}"="')
    return rest.partition('"')[0] if found else ""


def text_of(content: object) -> str:
    """The text of a message's or result's content, whichever of its shapes it has; pictures leave a mark."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(part for block in content if (part := _block_text(block)))


def _block_text(block: object) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, dict):
        return ""
    text = block.get("text")
    if isinstance(text, str):
        return text
    kind = block.get("type")
    return f"[{kind}]" if kind in ("image", "document") else ""
