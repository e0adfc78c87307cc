"""What goes out of a session before anything is read out of it, so that nothing can be made of a part of it.

Half a secret no longer looks like one. A family is made of an error's line by masking numbers and names and cutting it
at a hundred characters, a title by cutting a prompt: all of that must find the secret gone already.

>>> from helix_episodes.session import Source, Step
>>> given = Step(kind="call", source=Source(line=1), arguments={"command": "PGPASSWORD=swordfish psql"})
>>> _step(given, without_secrets).arguments
{'command': 'PGPASSWORD=[redacted:secret] psql'}
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from helix_episodes.redaction.cutting import without_secrets
from helix_episodes.redaction.emails import without_addresses

if TYPE_CHECKING:
    from collections.abc import Callable

    from helix_episodes.session import Piece, Session, Step


def without_emails(session: Session) -> Session:
    """The session with the e-mail addresses cut from all it says."""
    return _session(session, without_addresses)


def redacted_session(session: Session) -> Session:
    """The session with the secrets cut from all it says, each text as a whole; home folders stay until the end."""
    # Short outputs come again and again; a quarter of the time is theirs.
    return _session(session, cache(without_secrets))


def _session(session: Session, change: Callable[[str], str]) -> Session:
    return msgspec.structs.replace(
        session,
        steps=tuple(_step(step, change) for step in session.steps),
        root=session.root and change(session.root),
        task=session.task and change(session.task),
        declared_outcome=session.declared_outcome and change(session.declared_outcome),
    )


def _step(step: Step, change: Callable[[str], str]) -> Step:
    text, arguments, pieces = change(step.text), _changed(step.arguments, change), step.pieces
    if text == step.text and arguments == step.arguments:
        return step
    return msgspec.structs.replace(
        step, text=text, arguments=arguments, pieces=tuple(_piece(each, change) for each in pieces)
    )


def _piece(piece: Piece, change: Callable[[str], str]) -> Piece:
    return msgspec.structs.replace(piece, text=change(piece.text))


def _changed(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401  (a call's arguments are JSON)
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(key): _changed(each, change) for key, each in value.items()}
    return [_changed(each, change) for each in value] if isinstance(value, list | tuple) else value
