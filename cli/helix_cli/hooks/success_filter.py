r"""Whether a tool's result is a success as far as plain words can tell, before anything is parsed or loaded.

Most calls of tools succeed, and an agent waits after each of them. Loading the parser of JSON takes twice as long as
all else that a success needs; a payload without any word of a failure cannot hold one.

>>> surely_succeeded(b'{"tool_input": {"command": "pytest"}, "tool_response": {"stdout": "3 passed", "stderr": ""}}')
True
>>> surely_succeeded(b'{"tool_response": {"stdout": "1 failed, 2 passed"}}')
False
"""

from __future__ import annotations

#: One of these words is in whatever a runner, compiler or interpreter prints of a failure.
SIGNS = (
    "fail",
    "error",
    "exception",
    "traceback",
    "panic",
    "fatal",
    "not ok",
    "issue",
    "problem",
    "would re",
    "✗",
    "✖",
)
#: What agents' programs say of a failure in fields of their own, in words below the output, or in their log.
_STATED = ("exit", "success", "timeout", "rollout-")
#: As JSON writes them, in UTF-8 or escaped.
_WORDS = (*(word.encode() for word in (*SIGNS, *_STATED)), b"\\u2717", b"\\u2716")


def surely_succeeded(payload: bytes) -> bool:
    """Whether the payload of a tool's result has none of the words without which it reports no failure."""
    text = payload.lower()
    return not any(word in text for word in _WORDS)
