"""What setup adds to one file of an agent's settings: hooks and servers in JSON, a server in TOML.

Each kind of entry answers whether a text ``has`` it, ``add``s it to one that has not, and ``remove``s it together with
the lists and objects that it left empty and that the original text lacks.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from helix_cli.setup.definitions import SERVER, is_our_handler, is_our_server, is_ours, toml_table
from helix_cli.setup.json_edit import BOM, JsonDialect, NotEditable, as_strict, line_at, merged, parse

JSON_SERVERS = "mcpServers"
#: Where OpenCode has its servers; its second version has them below one more name.
OPENCODE_SERVERS, _BELOW = "mcp", "servers"
TOML_SERVERS = "mcp_servers"
_NAMED = re.compile(rf"""\s*(?:\[\s*{TOML_SERVERS}\s*\.\s*)?["']?{SERVER}["']?\s*[\].=]""")
#: A line as TOML has it: no other character ends one.
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
#: A comment, or a string, in which its mark says nothing (https://toml.io/en/v1.0.0#comment).
_TOML_COMMENT = re.compile(
    r'"{3}(?:\\.|[^\\])*?"{3}|"(?:\\.|[^"\\\n])*"|\'{3}.*?\'{3}|\'[^\'\n]*\'|(?P<comment>#[^\n]*\n?)', re.DOTALL
)
_INLINE = re.compile(rf"""\s*["']?{TOML_SERVERS}["']?\s*=""")


class JsonHooks:
    """Our group at the end of the list of each event.

    A ``flat`` list has handlers in it and no groups, in a file that names its version (Cursor, Copilot). The
    ``dialect`` is what the agent reads.
    """

    def __init__(
        self, wanted: Mapping[str, Mapping[str, Any]], *, flat: bool = False, dialect: JsonDialect = "strict"
    ) -> None:
        self._wanted = wanted
        self._is_ours = is_our_handler if flat else is_ours
        self._top: dict[str, Any] = {"version": 1} if flat else {}
        self._dialect: JsonDialect = dialect

    def has(self, text: str) -> bool:
        """Whether each list has our group, and no other of ours."""
        hooks = _member(self._parse(text), "hooks")
        found = {event: [one for one in _listed(hooks.get(event)) if self._is_ours(one)] for event in self._wanted}
        return found == {event: [group] for event, group in self._wanted.items()}

    def add(self, text: str) -> str:
        """The text with our groups."""
        value = {**self._top, **_dict(self._parse(text))}
        hooks = _member(value, "hooks")
        for event, group in self._wanted.items():
            hooks = {**hooks, event: [*_listed(hooks.get(event)), group]}
            text = merged(text, {**value, "hooks": hooks}, dialect=self._dialect)
        return text

    def remove(self, text: str, original: str) -> str:
        """The text without our groups, and without our handlers in a group to which somebody has added their own."""
        value = self._parse(text)
        hooks = _member(value, "hooks")
        lists = {event: groups for event, groups in hooks.items() if isinstance(groups, list)}
        if not lists:
            return text
        lists = {event: [_without_our_handlers(one) for one in groups] for event, groups in lists.items()}
        text = merged(text, {**value, "hooks": {**hooks, **lists}}, dialect=self._dialect)
        others = {event: [one for one in groups if not self._is_ours(one)] for event, groups in lists.items()}
        before = _dict(self._parse(original))
        others = _without_emptied({**hooks, **others}, hooks, _member(before, "hooks"))
        left = _without_emptied({**value, "hooks": others}, value, before)
        return merged(text, left, dialect=self._dialect)

    def _parse(self, text: str) -> Any:  # noqa: ANN401  (JSON)
        return parse(as_strict(text, self._dialect))


class JsonServer:
    """Our server among those in a file of JSON, under the name that the agent has for its servers."""

    def __init__(
        self, entry: Mapping[str, Any], *, servers: str = JSON_SERVERS, dialect: JsonDialect = "strict"
    ) -> None:
        self._entry = dict(entry)
        self._servers = servers
        self._dialect: JsonDialect = dialect

    def has(self, text: str) -> bool:
        """Whether it is there as it should be, or as somebody has changed it."""
        plain = self._plain(text)
        path = self._path(parse(plain))
        found = _at(parse(plain), path)
        return _is_current(found, self._entry, line_at(plain, path) if found is not None else None)

    def add(self, text: str) -> str:
        """The text with our server."""
        value = _dict(parse(self._plain(text)))
        return merged(text, _with(value, self._path(value), self._entry), dialect=self._dialect)

    def remove(self, text: str, original: str) -> str:
        """The text without our server; another one of its name stays."""
        value = parse(self._plain(text))
        path = self._path(value)
        if not is_our_server(_at(value, path)):
            return text
        return merged(text, _without(value, path, _dict(parse(self._plain(original)))), dialect=self._dialect)

    def entry_in(self, path: Path) -> Any:  # noqa: ANN401  (JSON)
        """What a file has under our server's name; None where it has nothing, or is not what it should be."""
        try:
            value = parse(self._plain(path.read_bytes().decode()))
        except (OSError, UnicodeDecodeError, NotEditable):
            return None
        return _at(value, self._path(value))

    def _plain(self, text: str) -> str:
        return as_strict(text, self._dialect)

    def _path(self, value: object) -> tuple[str, ...]:
        """The names that lead to the entry, in the form that the file has already."""
        below = self._servers == OPENCODE_SERVERS and isinstance(_member(value, self._servers).get(_BELOW), dict)
        return (self._servers, _BELOW, SERVER) if below else (self._servers, SERVER)


def _at(value: object, path: tuple[str, ...]) -> Any:  # noqa: ANN401  (JSON)
    for name in path[:-1]:
        value = _member(value, name)
    return _dict(value).get(path[-1])


def _with(value: Mapping[str, Any], path: tuple[str, ...], entry: object) -> dict[str, Any]:
    """An object with an entry at the end of a path."""
    name, *rest = path
    if not rest:
        return {**value, name: entry}
    if not isinstance(value.get(name, {}), dict):
        return {**value, name: {rest[0]: entry}}  # which the edit refuses, with the line
    return {**value, name: _with(_member(value, name), tuple(rest), entry)}


def _without(value: Mapping[str, Any], path: tuple[str, ...], original: Mapping[str, Any]) -> dict[str, Any]:
    """An object without what is at the end of a path, nor the objects on it that this leaves empty."""
    name, *rest = path
    if not rest:
        return {one: entry for one, entry in value.items() if one != name}
    inner = _without(_member(value, name), tuple(rest), _member(original, name))
    return _without_emptied({**value, name: inner}, value, original)


class Entries:
    """Several kinds of entries in one file."""

    def __init__(self, *parts: JsonHooks | JsonServer | TomlServer) -> None:
        self._parts = parts

    def has(self, text: str) -> bool:
        """Whether all are there."""
        return all(part.has(text) for part in self._parts)

    def add(self, text: str) -> str:
        """The text with all of them."""
        for part in self._parts:
            text = text if part.has(text) else part.add(text)
        return text

    def remove(self, text: str, original: str) -> str:
        """The text without any of them."""
        for part in self._parts:
            text = part.remove(text, original)
        return text


class TomlServer:
    """Our server in a table at the end of a file of TOML, where it moves no comment."""

    def __init__(self, entry: Mapping[str, Any]) -> None:
        self._entry = dict(entry)

    def has(self, text: str) -> bool:
        """Whether it is there as it should be, or as somebody has changed it."""
        return _is_current(server_in(toml_value(text), TOML_SERVERS), self._entry, line_of_toml_server(text))

    def add(self, text: str) -> str:
        """The text with our table, in the file's own line ends, and with a line end where the file has one."""
        if not isinstance(toml_value(text).get(TOML_SERVERS, {}), dict):
            raise NotEditable(f"{TOML_SERVERS} is no table", line=_line(text, _INLINE))
        line, whole = "\r\n" if "\r\n" in text else "\n", text.removeprefix(BOM)
        is_ended = not whole or whole.endswith("\n")
        gap = ("" if is_ended else line) + (line if whole else "")
        new = text + gap + line.join(toml_table(self._entry)) + (line if is_ended else "")
        try:
            toml_value(new)
        except NotEditable as error:
            problem = f"{TOML_SERVERS} is an inline table, which no other table can be added to"
            advice = f"write it as [{TOML_SERVERS}.NAME], or paste what `--print` shows"
            raise NotEditable(problem, line=_line(new, _INLINE), advice=advice) from error
        return new

    def remove(self, text: str, original: str) -> str:
        """The text without our server and the empty line before it; other empty lines and comments stay.

        So does another server of its name.

        What somebody wrote below our table is a part of it in TOML, and goes with it, but for the comments.

        Raises:
            NotEditable: One of our lines says something else too.
        """
        del original  # setup adds no table that others share
        value = toml_value(text)
        if not is_our_server(server_in(value, TOML_SERVERS)):
            return text
        import tomlkit
        from tomlkit.exceptions import TOMLKitError

        try:
            document = tomlkit.parse(text.removeprefix(BOM))
            del document[TOML_SERVERS][SERVER]
        except TOMLKitError as error:
            raise _not_alone(line_of_toml_server(text)) from error
        others = _LINE.findall(document.as_string())
        left, comments, is_gap_ours = list[str](), _comments_of_lines(text.removeprefix(BOM)), True
        for number, row in enumerate(_LINE.findall(text.removeprefix(BOM))):
            if others and row == others[0]:
                left.append(others.pop(0))
                continue
            if is_gap_ours and row.strip():  # our first line, before which `add` writes an empty one
                is_gap_ours = False
                if left and not left[-1].strip():
                    left.pop()
            if number in comments:
                left.append(comments[number])
            elif not row.strip():
                left.append(row)
        new = text[: text.startswith(BOM)] + "".join(left)
        del value[TOML_SERVERS][SERVER]
        if others or _without_empty(toml_value(new)) != _without_empty(value):
            raise _not_alone(line_of_toml_server(text))
        return new


def _comments_of_lines(text: str) -> dict[int, str]:
    """The comments of a text in TOML by the numbers of their lines, each from its mark to the end of the line."""
    found = {}
    for one in _TOML_COMMENT.finditer(text):
        if one["comment"]:
            before = text[: one.start()].rpartition("\n")[2]
            found[text.count("\n", 0, one.start())] = ("" if before.strip() else before) + one["comment"]
    return found


#: What setup adds to one file of settings.
AnyEntries = Entries | JsonHooks | JsonServer | TomlServer


def server_in(value: object, servers: str) -> Any:  # noqa: ANN401  (JSON or TOML)
    """What a file of settings has under our server's name; None where nothing is."""
    return _member(value, servers).get(SERVER)


def require_our_server(found: object, *, line: int | None, path: Path | None = None) -> None:
    """Refuses the entry of another server under our name.

    Raises:
        NotEditable: It is another's.
    """
    if not is_our_server(found):
        advice = "give it another name, or paste what `--print` shows under another one"
        raise NotEditable(f"another server is called {SERVER}", line=line, path=path, advice=advice)


def toml_value(text: str) -> dict[str, Any]:
    """What a text says in TOML.

    Raises:
        NotEditable: It is no TOML.
    """
    try:
        return tomllib.loads(text.removeprefix(BOM))
    except tomllib.TOMLDecodeError as error:
        raise NotEditable(f"it is not TOML: {error}") from error


def line_of_toml_server(text: str) -> int | None:
    """The line of something with our server's name, as far as it is known."""
    return _line(text, _NAMED)


def _is_current(found: Any, entry: Mapping[str, Any], line: int | None) -> bool:  # noqa: ANN401  (JSON or TOML)
    if found is None:
        return False
    require_our_server(found, line=line)
    return found == entry or set(found) != set(entry)  # somebody has added to it: then it is as they want it


def _without_emptied(new: dict[str, Any], old: Mapping[str, Any], original: Mapping[str, Any]) -> dict[str, Any]:
    """An object without the members that held something before, hold nothing now and are not in the original."""
    return {name: one for name, one in new.items() if one or one == old[name] or name in original}


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _member(value: object, name: str) -> dict[str, Any]:
    return _dict(_dict(value).get(name))


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _without_our_handlers(group: object) -> object:
    handlers = _listed(_dict(group).get("hooks"))
    if is_ours(group) or not any(is_our_handler(one) for one in handlers):
        return group
    return {**_dict(group), "hooks": [one for one in handlers if not is_our_handler(one)]}


def _line(text: str, sought: re.Pattern[str]) -> int | None:
    lines = enumerate(text.removeprefix(BOM).splitlines(), start=1)
    return next((number for number, line in lines if sought.match(line)), None)


def _without_empty(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in value.items() if name != TOML_SERVERS or one}


def _not_alone(line: int | None) -> NotEditable:
    problem = "our entry is written in a form that cannot be edited without changing something else"
    return NotEditable(problem, line=line, advice="edit it by hand; `--print` shows what it is about")
