"""The library's advice in the words of tools: it names commands and their options, which an agent here does not have.

Only what the library itself says is put into other words, never what was stored. What no tool does (`init`) keeps its
command: an agent with a shell, or a person, has to run it.

>>> in_tools_words("the graph has not been compiled yet; run `helix-graph compile`")
'the graph has not been compiled yet; call `compile`'
"""

from __future__ import annotations

import re
from typing import Any

#: Commands and options, and what says the same of tools. The longer form of two stands first.
_FORMS = (
    (r"run `helix-graph compile`", "call `compile`"),
    (r"Next: helix-graph compile", "Next: call `compile`"),
    (r"`helix-graph episode list`", "`list_episodes`"),
    (r"`helix-graph episode show \S+`", "`show_episode`"),
    (r"`helix-graph insight recall WORDS`", "`recall`"),
    (r"`helix-graph insight reindex` makes them", "people make them"),
    (r"`helix-graph insight uplift` shows what is known so far", "ask again when there are more"),
    (r"`helix-graph (status|patterns|anti-patterns|compile|extract)`", lambda found: f"`{found[1].replace('-', '_')}`"),
    (r"; `helix-graph model install --from DIR` copies [^;]*", ""),
    (r"`helix-graph model status` says how to get one", "leave semantic_only out to compare words"),
    (r"`helix-graph model install` (gets one|\S+ \S+)", "people can install one"),
    (r"`topic topics stats --detail tags`", "`topics` with action stats and detail tags"),
    (r"`topic topics`", "`topics`"),
    (r"`topic topics (\w+)`", r"`topics` with action \1"),
    (r"`topic (\w+)`", r"`\1`"),
    (r", which -v lists\b", ""),
    (r"; --format NAME reads it as one of them all the same", ""),
    (r"; use --force to replace it, or --output for another folder", "; people can replace it"),
    (r" \(--force would record less than is known\)", ""),
    (r"; --force brings it back", "; people can bring it back"),
    (r"; --project any takes it in", "; name the log to take it in"),
    (r"--(semantic-only|lexical-only|dry-run|min-relevance)\b", lambda found: found[1].replace("-", "_")),
    (r"^TEXT is empty", "text is empty"),
)
_RULES = tuple((re.compile(form), words) for form, words in _FORMS)
#: Where an answer advises; everything else in it may be somebody's text.
_ADVICE = frozenset({"hint", "note", "problem", "error", "reason"})
#: The last line of reports that have a next step.
_NEXT = re.compile(r"Next: helix-graph compile$", re.MULTILINE)


def in_tools_words(sentence: str) -> str:
    """A sentence of the library, such as that of an error."""
    for form, words in _RULES:
        sentence = form.sub(words, sentence)
    return sentence


def answer_in_tools_words(value: Any, text: str) -> tuple[Any, str]:  # noqa: ANN401  (JSON)
    """An answer and its text, with the advice in both in other words."""
    said: dict[str, str] = {}
    value = _advised(value, said)
    for sentence, words in said.items():
        text = text.replace(sentence, words)
    return value, _NEXT.sub("Next: call `compile`", text)


def _advised(value: Any, said: dict[str, str]) -> Any:  # noqa: ANN401  (JSON)
    if isinstance(value, list | tuple):
        return [_advised(one, said) for one in value]
    if not isinstance(value, dict):
        return value
    return {key: _advice(one, said) if key in _ADVICE else _advised(one, said) for key, one in value.items()}


def _advice(value: Any, said: dict[str, str]) -> Any:  # noqa: ANN401  (JSON)
    if not isinstance(value, str):
        return _advised(value, said)
    if (words := in_tools_words(value)) != value:
        said[value] = words
    return words
