"""Our server in a file of TOML: a table at its end, where it disturbs no comment, and out of it again."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

from helix_cli.errors import NotEditable
from helix_cli.setup.editing import Change, edited, inserting, no_change, read_text, require_same, undone
from helix_cli.setup.files import require_our_server
from helix_cli.setup.wanted import SERVER, is_our_server

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_SERVERS = "mcp_servers"
_BOM = "\ufeff"
#: ``[mcp_servers.helix]`` and the tables below it; without a comment, for that would be lost with the line.
_OUR_HEADER = re.compile(rf"""\s*\[\s*{_SERVERS}\s*\.\s*["']?{SERVER}["']?\s*(?:\.[^\]#]*)?\]\s*""")
_HEADER = re.compile(r"\s*\[")
#: A setting on one line, without a comment behind it.
_SETTING = re.compile(r"""\s*[\w."'-]+\s*=\s*(?:"[^"#]*"|'[^'#]*'|\[[^\[\]#]*\]|\{[^{}#]*\}|[\w.+-]+)\s*""")
_NAMED = re.compile(rf"""\s*(?:\[\s*{_SERVERS}\s*\.\s*)?["']?{SERVER}["']?\s*[\].=]""")
_INLINE = re.compile(rf"""\s*["']?{_SERVERS}["']?\s*=""")


def read_toml(path: Path) -> dict[str, Any]:
    """What a file of TOML says; nothing where there is none.

    Raises:
        NotEditable: It is no TOML.
    """
    return _parsed(read_text(path) or "", path)


def server_in_toml(value: Mapping[str, Any]) -> Any:  # noqa: ANN401  (TOML)
    """What a file of settings has under our server's name; None where nothing is."""
    servers = value.get(_SERVERS)
    return servers.get(SERVER) if isinstance(servers, dict) else None


def with_toml_server(path: Path, entry: Mapping[str, Any]) -> Change:
    """A file of TOML with our server in a table at its end; an older table of ours goes first.

    Raises:
        NotEditable: The file is no TOML, another server has our name, or the servers stand in an inline table.
    """
    before = read_text(path)
    text = before or ""
    found = server_in_toml(_parsed(text, path))
    if found is not None:
        require_our_server(found, path=path, line=_line(text, _NAMED))
        if found == entry or set(found) != set(entry):  # somebody has added to it: then it is as they want it
            return no_change(path, before)
    base = _base(path, before)
    old = _parsed(base or "", path)
    _require_open(path, text, old.get(_SERVERS, {}))
    new = (base or "") + _table(base or "", entry)
    wanted = {**old, _SERVERS: {**old.get(_SERVERS, {}), SERVER: dict(entry)}}
    require_same(_added(new, path), wanted, path=path, line=_line(text, _INLINE))
    return inserting(path, before, base, [new], kept=())


def without_toml_server(path: Path) -> Change:
    """A file of TOML without our table; another server of its name stays.

    Raises:
        NotEditable: The file is no TOML, or our server stands there in another form than ours.
    """
    text = read_text(path)
    if (back := undone(path)) is not None:
        return back
    if text is None or not is_our_server(server_in_toml(_parsed(text, path))):
        return no_change(path, text)
    return edited(path, text, _without(text, path))


def line_of_toml_server(path: Path) -> int | None:
    """The line on which something with our server's name stands, as far as it can be told."""
    return _line(read_text(path) or "", _NAMED)


def _base(path: Path, before: str | None) -> str | None:
    """The file without us, which our table is put at the end of; None where there would be none."""
    back = undone(path)
    if back is not None:
        return None if back.after is None else back.after.decode()
    return before if before is None or server_in_toml(_parsed(before, path)) is None else _without(before, path)


def _without(text: str, path: Path) -> str:
    """The text without our header and the settings below it; blank lines and comments stay.

    Raises:
        NotEditable: Something stands there that is no setting of one line.
    """
    left: list[str] = []
    ours = False
    for line in text.splitlines(keepends=True):
        if _HEADER.match(line):
            ours = _OUR_HEADER.fullmatch(line) is not None
        if not ours or not (_OUR_HEADER.fullmatch(line) or _SETTING.fullmatch(line)):
            left.append(line)
    new = "".join(left)
    require_same(_left(new), _others(_parsed(text, path)), path=path, line=_line(text, _NAMED))
    return new


def _left(text: str) -> dict[str, Any] | None:
    """What a text says that our server was cut out of; None when it still stands there, or the text is no TOML."""
    try:
        value = tomllib.loads(text.removeprefix(_BOM))
    except tomllib.TOMLDecodeError:
        return None
    return _others(value) if server_in_toml(value) is None else None


def _others(value: Mapping[str, Any]) -> dict[str, Any]:
    """What a file says without our server, and without a table of servers that holds nothing."""
    rest = {name: one for name, one in value.items() if name != _SERVERS}
    servers = {name: one for name, one in value.get(_SERVERS, {}).items() if name != SERVER}
    return {**rest, _SERVERS: servers} if servers else rest


def _require_open(path: Path, text: str, servers: object) -> None:
    if not isinstance(servers, dict):
        raise NotEditable(f"{_SERVERS} is no table", path=path, line=_line(text, _INLINE))


def _added(new: str, path: Path) -> dict[str, Any]:
    """What the file says with our table; it was TOML without it.

    Raises:
        NotEditable: The servers stand in an inline table, to which TOML lets nobody add a table.
    """
    try:
        return tomllib.loads(new.removeprefix(_BOM))
    except tomllib.TOMLDecodeError as error:
        problem = f"{_SERVERS} is an inline table, which no other table can be added to"
        advice = f"write it as [{_SERVERS}.NAME], or paste what `--print` shows"
        raise NotEditable(problem, path=path, line=_line(new, _INLINE), advice=advice) from error


def _parsed(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix(_BOM))
    except tomllib.TOMLDecodeError as error:
        raise NotEditable(f"it is no TOML: {error}", path=path) from error


def _line(text: str, sought: re.Pattern[str]) -> int | None:
    lines = enumerate(text.removeprefix(_BOM).splitlines(), start=1)
    return next((number for number, line in lines if sought.match(line)), None)


def _table(text: str, entry: Mapping[str, Any]) -> str:
    """Our table, with the file's own line ends, and a line end behind it where the file has one."""
    line = "\r\n" if "\r\n" in text else "\n"
    whole = text.removeprefix(_BOM)
    ended = not whole or whole.endswith("\n")
    rows = [f"[{_SERVERS}.{SERVER}]", *toml_settings(entry)]
    before = ("" if ended else line) + (line if whole else "")
    return before + line.join(rows) + (line if ended else "")


def toml_settings(entry: Mapping[str, Any]) -> list[str]:
    """A line for each of an entry's texts and lists of texts: what JSON writes of these is TOML too."""
    return [f"{name} = {json.dumps(one, ensure_ascii=False)}" for name, one in entry.items()]
