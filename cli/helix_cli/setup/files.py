"""Our entries in files of JSON and TOML: putting them in, finding them, and taking them out."""

from __future__ import annotations

import copy
import tomllib
from typing import TYPE_CHECKING, Any

from helix_cli.errors import NotEditable
from helix_cli.setup.editing import Change, change_of, read_text, same, undone
from helix_cli.setup.inserting import inserted, without_items, without_member
from helix_cli.setup.jsonc import parse
from helix_cli.setup.wanted import SERVER, is_ours

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

#: The file that we make where there is none, and what is left of it without us.
_EMPTY = "{}\n"
_TOML_TABLE = f"mcp_servers.{SERVER}"


def with_hooks(path: Path, wanted: Mapping[str, Mapping[str, Any]]) -> Change:
    """The file with our group at the end of each event's list; groups of ours that say something else go first.

    Raises:
        NotEditable: The file is no JSON, or something else stands where the lists belong.
    """
    before = read_text(path)
    text = before or ""
    try:
        if before is not None and _has(parse(text).value, wanted):
            return change_of(path, before, [])
        cleared = _without_hooks(text) if text.strip() else text
        texts = [] if cleared.strip() else [cleared + _EMPTY]
        value = copy.deepcopy(parse(cleared).value) if cleared.strip() else {}
        for event, group in wanted.items():
            texts.append(inserted(texts[-1] if texts else cleared, ("hooks", event), group, append=True))
            value.setdefault("hooks", {}).setdefault(event, []).append(group)
        same(texts[-1], value, parsed=parse(texts[-1]).value, path=path)
    except NotEditable as problem:
        raise problem.at(path) from None
    if cleared != text:  # older entries of ours stood there: then cutting out is by what the entries say
        return Change(path=path, before=text.encode(), after=texts[-1].encode())
    return change_of(path, before, texts)


def without_hooks(path: Path) -> Change:
    """The file without our groups: byte for byte as before, when nobody has changed it since.

    Raises:
        NotEditable: The file is no JSON.
    """
    return undone(path) or _edited(path, _without_hooks)


def with_server(path: Path, entry: Mapping[str, Any], *, key: str = "mcpServers") -> Change:
    """The file with our server under ``key``.

    Raises:
        NotEditable: The file is no JSON, or another server has our name.
    """
    before = read_text(path)
    text = before or ""
    try:
        value = parse(text).value if text.strip() else {}
        servers = value.get(key, {}) if isinstance(value, dict) else {}
        if isinstance(servers, dict) and SERVER in servers:
            _require_ours(servers[SERVER], entry)
            return change_of(path, before, [])
        texts = [] if text.strip() else [text + _EMPTY]
        texts.append(inserted(texts[-1] if texts else text, (key, SERVER), dict(entry)))
        wanted = {**value, key: {**servers, SERVER: dict(entry)}}
        same(texts[-1], wanted, parsed=parse(texts[-1]).value, path=path)
    except NotEditable as problem:
        raise problem.at(path) from None
    return change_of(path, before, texts)


def without_server(path: Path, *, key: str = "mcpServers") -> Change:
    """The file without our server.

    Raises:
        NotEditable: The file is no JSON.
    """
    return undone(path) or _edited(path, lambda text: _without_server(text, key))


def with_toml_server(path: Path, entry: Mapping[str, Any]) -> Change:
    """A file of TOML with our server in a table at its end, where it disturbs no comment.

    Raises:
        NotEditable: The file is no TOML, another server has our name, or the servers stand in one line.
    """
    before = read_text(path)
    text = before or ""
    value = _toml(text, path)
    servers = value.get("mcp_servers", {})
    if SERVER in servers:
        _require_ours(servers[SERVER], entry)
        return change_of(path, before, [])
    new = text + _toml_table(text, entry)
    same(new, {**value, "mcp_servers": {**servers, SERVER: dict(entry)}}, parsed=_toml(new, path), path=path)
    return change_of(path, before, [new])


def without_toml_server(path: Path) -> Change:
    """A file of TOML without our table.

    Raises:
        NotEditable: The file is no TOML, or our server stands there in another form than ours.
    """
    if (change := undone(path)) is not None:
        return change
    text = read_text(path)
    value = _toml(text or "", path)
    if text is None or SERVER not in value.get("mcp_servers", {}):
        return change_of(path, text, [])
    lines = text.splitlines(keepends=True)
    begin = next((place for place, line in enumerate(lines) if line.strip() == f"[{_TOML_TABLE}]"), len(lines))
    end = begin + 1
    while end < len(lines) and lines[end].partition("=")[0].strip() in {"command", "args"}:
        end += 1
    new = "".join(lines[:begin] + lines[end:])
    left = {name: one for name, one in value["mcp_servers"].items() if name != SERVER}
    wanted = {name: one for name, one in value.items() if name != "mcp_servers"} | (
        {"mcp_servers": left} if left else {}
    )
    same(new, wanted, parsed=_toml(new, path), path=path)
    return Change(path=path, before=text.encode(), after=new.encode())


def has_hooks(path: Path, wanted: Mapping[str, object]) -> bool:
    """Whether all our groups stand in a file.

    Raises:
        NotEditable: The file is no JSON.
    """
    text = read_text(path)
    try:
        return bool(text and text.strip()) and _has(parse(text or "").value, wanted)
    except NotEditable as problem:
        raise problem.at(path) from None


def _edited(path: Path, edit: Any) -> Change:  # noqa: ANN401  (from text to text)
    text = read_text(path)
    if text is None or not text.strip():
        return change_of(path, text, [])
    try:
        new = edit(text)
        parse(new)
    except NotEditable as problem:
        raise problem.at(path) from None
    return Change(path=path, before=text.encode(), after=new.encode())


def _has(value: object, wanted: Mapping[str, object]) -> bool:
    hooks = value.get("hooks") if isinstance(value, dict) else None
    if not isinstance(hooks, dict):
        return False
    return all([one for one in _listed(hooks.get(event)) if is_ours(one)] == [group] for event, group in wanted.items())


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _without_hooks(text: str) -> str:
    value = parse(text).value
    hooks = value.get("hooks") if isinstance(value, dict) else None
    for event in hooks if isinstance(hooks, dict) else ():
        text = without_items(text, ("hooks", event), is_ours)
    return text


def _without_server(text: str, key: str) -> str:
    return without_member(text, (key, SERVER))


def _require_ours(found: object, entry: Mapping[str, Any]) -> None:
    arguments = found.get("args") if isinstance(found, dict) else None
    if arguments != entry["args"]:
        raise NotEditable(f"another server is called {SERVER}")


def _toml(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise NotEditable(f"it is no TOML: {error}", path=path) from error


def _toml_table(text: str, entry: Mapping[str, Any]) -> str:
    line = "\r\n" if "\r\n" in text else "\n"
    before = "" if not text or text.endswith("\n") else line
    rows = [f"[{_TOML_TABLE}]", *(f"{name} = {_toml_value(one)}" for name, one in entry.items())]
    return before + (line if text else "") + "".join(row + line for row in rows)


def _toml_value(value: object) -> str:
    """Texts and lists of them: what JSON writes of these is TOML too."""
    import json  # noqa: PLC0415  (one line of this file needs it)

    return json.dumps(value)
