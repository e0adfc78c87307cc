"""The attacks: who writes the payload, in which form, and where.

Every attack has a mark of its own, a made-up host name, so that whatever is shown or stored can be traced to it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from attack_forms import FORMS, PRINTABLE

#: What others write and a session's log then holds; `attack_sessions` says how.
LOG_CHANNELS = (
    "tool output",
    "web page",
    "commit message",
    "issue text",
    "forged error",
    "README",
    "file name",
    "branch name",
    "rules file",
    "subagent",
    "repeated by the agent",
    "pasted by the user",
)
FORMS_OF_A_LOG_CHANNEL = 12
IMPORTS = (
    *(
        ("record", form)
        for form in ("plain", "DELIVERED and INSIGHT", "heading", "closing tags", "closing quotes", "proven")
    ),
    *(("record", form) for form in ("tag characters", "chat template")),
    ("high initial value", "plain"),
    ("many deliveries", "plain"),
    ("many deliveries", "curly closing quote"),
    ("as a person's", "plain"),
    ("edited by hand", "skipped tests"),
    ("source", "heading"),
    ("name", "plain"),
    ("link to a node", "nested list"),
)
MCP_CALLS = (
    *(
        ("remember", form)
        for form in ("plain", "DELIVERED and INSIGHT", "heading", "closing tags", "one closing quote")
    ),
    *(("remember", form) for form in ("tag characters", "bidirectional", "chat template", "zero width")),
    ("remember as user-provided", "plain"),
    ("remember as safety", "plain"),
    ("remember with authorship", "skipped tests"),
    ("remember for another session", "plain"),
    ("feedback, many ids", "plain"),
    ("feedback, plan complete", "skipped tests"),
    ("feedback, all causal", "proven"),
    ("feedback, with a trusted one", "plain"),
    *(("store", form) for form in ("plain", "heading", "roles", "fence", "curly closing quote", "HTML")),
    ("store with a source", "plain"),
    ("batch", "nested list"),
    ("topic name", "plain"),
    ("topics import", "closing tags"),
    ("edit of a person's entry", "plain"),
    ("extract of a forged log", "forged"),
    ("extract of two forged logs", "forged"),
    ("extract of a log elsewhere", "forged"),
)
HOOK_CALLS = (
    *(
        ("prompt", form)
        for form in ("plain", "heading", "closing tags", "tag characters", "closing quotes", "chat template")
    ),
    *(("tool failure", form) for form in ("plain", "roles", "fence", "terminal codes", "odd line ends")),
    ("session id", "plain"),
    ("session id with a path", "plain"),
    ("transcript", "plain"),
    ("tool name", "plain"),
    ("tool input", "plain"),
    ("forged transcript", "plain"),
    ("forged transcript", "DELIVERED and INSIGHT"),
    ("forged transcript elsewhere", "plain"),
    ("forged subagent", "plain"),
    ("forged subagent", "proven"),
    ("forged subagent, many ends", "plain"),
    ("forged compaction", "plain"),
)
CLONE_PARTS = (
    *(("insight with a high rank", form) for form in ("plain", "heading", "closing tags", "closing quotes", "proven")),
    *(("insight with a high rank", form) for form in ("DELIVERED and INSIGHT", "tag characters", "skipped tests")),
    ("insight with uses", "plain"),
    ("insight as a person's", "plain"),
    ("insight tagged safety", "plain"),
    ("insight with a name", "plain"),
    *(("topic entry", form) for form in ("plain", "heading", "roles")),
    *(("episode", form) for form in ("plain", "heading", "terminal codes", "curly closing quote")),
    ("lesson of an episode", "plain"),
    ("node by hand", "plain"),
    ("pattern by hand", "plain"),
    ("anti-patterns for hooks", "plain"),
    ("config.toml: a server", "plain"),
    ("config.toml: a folder", "plain"),
    ("Markdown memory", "heading"),
)


@dataclass
class Attack:
    """One attack, and what came of it."""

    id: str
    channel: str
    variant: str
    form: str
    mark: str
    payload: str
    #: Why it did not hold, by what had to: "quoted", "unranked", "revocable", "refused".
    broken: dict[str, str] = field(default_factory=dict)
    #: Texts shown to an agent that named the mark at all.
    shown: int = 0
    #: Whether anything of it was on disk before it was forgotten: a search that finds nothing proves nothing without.
    stored: bool = False

    @property
    def held(self) -> bool:
        return not self.broken

    def breaks(self, what: str, why: str) -> None:
        """Keeps the first reason of each kind."""
        self.broken.setdefault(what, why)

    @property
    def line(self) -> str:
        """The payload where only one line is possible: file names, branches, names of topics."""
        return " ".join(self.payload.split())


def all_attacks() -> dict[str, list[Attack]]:
    """The attacks of each channel; marks follow from the place in the list."""
    draw = random.Random(16)  # noqa: S311  (repeatable, not secret)
    attacks: dict[str, list[Attack]] = {}
    names = list(FORMS)
    for number, channel in enumerate(LOG_CHANNELS):
        # Each channel begins elsewhere in the list of forms, so that every form comes through six channels.
        forms = [names[(number * 7 + step) % len(names)] for step in range(FORMS_OF_A_LOG_CHANNEL)]
        attacks[channel] = [_attack(draw, channel, channel, form, at) for at, form in enumerate(forms)]
    for channel, variants in (
        ("insight import", IMPORTS),
        ("MCP arguments", MCP_CALLS),
        ("hook payloads", HOOK_CALLS),
        ("clone", CLONE_PARTS),
    ):
        attacks[channel] = [_attack(draw, channel, variant, form, at) for at, (variant, form) in enumerate(variants)]
    return attacks


def _attack(draw: random.Random, channel: str, variant: str, form: str, number: int) -> Attack:
    mark = "qx" + "".join(draw.choices("bcdfghjklmnpqrstvwz", k=8))
    payload = FORMS["plain" if form == "forged" else form](mark)
    identity = f"{channel.replace(' ', '-')}-{number + 1:02d}"
    return Attack(identity, channel, variant, form, mark, payload)


assert all(form in PRINTABLE for _, form in IMPORTS), "an import refuses control characters as such"
