"""The list of steps while a log is read: what was said, and calls joined with their results.

Logs differ in how they name a call and in where its result stands, but the joining is the same for all: by id, which
some programs use twice in one run, and where there is none, by order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from helix_episodes.session import Status, Step, StepKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_episodes.readers.fields import Place
    from helix_episodes.readers.vocabulary import Translation


class Dialogue:
    """Steps in order. Ids of calls are made unique within the session; results find the latest call of their id."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._open: dict[str, tuple[int, ...]] = {}
        self._closed: dict[str, int] = {}
        self._used: dict[str, int] = {}

    def add(self, kind: StepKind, place: Place, **fields: Any) -> None:  # noqa: ANN401  (fields of Step)
        """Adds any step that is neither call nor result."""
        self.steps.append(Step(kind=kind, source=place.source, at=place.at, **fields))

    def say(self, kind: StepKind, place: Place, *, text: str, actor: str = "agent") -> bool:
        """Adds words, unless there are none; whether there were any."""
        if text.strip():
            self.add(kind, place, text=text.strip(), actor=actor)
        return bool(text.strip())

    def call(
        self,
        place: Place,
        *,
        tool: str,
        call_id: str | None,
        translations: Sequence[Translation],
        actor: str = "agent",
    ) -> None:
        """Adds a call, one step for each thing that it does, all under ids made from its own."""
        logged = call_id or f"line-{place.source.line}"
        self._used[logged] = self._used.get(logged, 0) + 1
        name = logged if self._used[logged] == 1 else f"{logged}~{self._used[logged]}"
        self._open.pop(logged, None)
        self._open[logged] = tuple(range(len(self.steps), len(self.steps) + len(translations)))
        for number, (operation, arguments) in enumerate(translations, 1):
            one = name if number == 1 else f"{name}/{number}"
            self.add("call", place, actor=actor, tool=tool, operation=operation, arguments=arguments, call_id=one)

    def settle(
        self,
        call_id: str | None,
        place: Place,
        *,
        text: str,
        status: Status,
        exit_code: int | None = None,
        actor: str | None = None,
    ) -> None:
        """Adds the result of a call; without an id, of the oldest one that has none yet.

        Of a call that did several things the first bears the text. The others came out the same, but one failure is no
        three: when the first failed, they never ran.
        """
        logged = call_id if call_id is not None else next(iter(self._open), None)
        positions = self._open.pop(logged, ()) if logged is not None else ()
        if logged is not None:
            self._closed[logged] = len(self.steps)
        if not positions:
            how = {"status": status, "exit_code": exit_code, "actor": actor or "agent"}
            self.add("result", place, text=text, call_id=logged, **how)
            return
        first, *others = positions
        self._answer(first, place, actor=actor, text=text, status=status, exit_code=exit_code)
        for position in others:
            self._answer(position, place, actor=actor, status="cancelled" if status == "error" else status)

    def _answer(self, position: int, place: Place, *, actor: str | None, **said: Any) -> None:  # noqa: ANN401  (fields of Step)
        call = self.steps[position]
        joined = {"tool": call.tool, "operation": call.operation, "call_id": call.call_id}
        self.add("result", place, actor=actor or call.actor, **joined, **said)

    def settle_anew(
        self, call_id: str, place: Place, *, text: str, status: Status, exit_code: int | None = None
    ) -> None:
        """Puts a result that says more in the place of the one that a call already has."""
        result = self.steps[self._closed[call_id]]
        self.steps[self._closed[call_id]] = msgspec.structs.replace(
            result, source=place.source, at=place.at, text=text, status=status, exit_code=exit_code
        )

    def mark_created(self, call_id: str | None) -> None:
        """The files that the open call of this id wrote whole (without an id, the oldest one's) are new."""
        logged = call_id if call_id is not None else next(iter(self._open), None)
        for position in self._open.get(logged or "", ()):
            call = self.steps[position]
            if call.operation == "edit" and not call.arguments["old"]:
                given = {"path": call.arguments["path"], "new": call.arguments["new"]}
                self.change(position, operation="create", arguments=given)

    def is_open(self, call_id: str | None) -> bool:
        """Whether a call of this id waits for its result."""
        return call_id in self._open

    def is_settled(self, call_id: str | None) -> bool:
        """Whether the latest call of this id has its result."""
        return call_id in self._closed and call_id not in self._open

    def open_position(self, call_id: str | None) -> int | None:
        """Where the (first) step of the call stands that waits for this result; without an id the oldest one."""
        logged = call_id if call_id is not None else next(iter(self._open), None)
        return next(iter(self._open.get(logged or "", ())), None)

    def open_call(self, call_id: str | None) -> Step | None:
        """That step itself."""
        position = self.open_position(call_id)
        return None if position is None else self.steps[position]

    def change(self, position: int, **fields: Any) -> None:  # noqa: ANN401  (fields of Step)
        """Changes a step that turned out to be something else."""
        self.steps[position] = msgspec.structs.replace(self.steps[position], **fields)
