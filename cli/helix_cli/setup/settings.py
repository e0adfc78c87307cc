"""Our hooks and server in files of settings, JSON and TOML: insert them, find them, remove them.

In TOML the server is a table at the end of the file, where it moves no comment.
"""

from __future__ import annotations

import copy
import re
import tomllib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from helix_cli.errors import NotEditable
from helix_cli.setup.definitions import SERVER, is_our_handler, is_our_server, is_ours, toml_settings
from helix_cli.setup.editing import (
    FileChange,
    edited,
    inserting,
    is_blank,
    kept_containers,
    no_change,
    read_text,
    require_same,
    undone,
)
from helix_cli.setup.jsonc import comments, inserted, line_of, parse, require_strict, without_items, without_member

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from helix_cli.setup.jsonc import Kept


#: The file that we make where there is none.
_EMPTY = "{}\n"
_JSON_SERVERS = "mcpServers"


def with_hooks(path: Path, wanted: Mapping[str, Mapping[str, Any]]) -> FileChange:
    """The file with our group at the end of each event's list; groups of ours that say something else go first.

    Raises:
        NotEditable: The file is no strict JSON, or something else is where the lists belong.
    """
    before = read_text(path)
    with _naming(path):
        value = _strict(before)
        if _has(value, wanted):
            return no_change(path, before)
        base = _json_base(path, before, _without_hooks)
        hooks = [(("hooks", event), group) for event, group in wanted.items()]
        texts = _inserted(base, hooks, append=True)
        result = copy.deepcopy(_strict(base))
        for event, group in wanted.items() if isinstance(result, dict) else ():
            result.setdefault("hooks", {}).setdefault(event, []).append(group)
        require_same(parse(texts[-1]).value, result, path=path)
    return inserting(path, before, base, texts, kept=_containers(_strict(base), [one for one, _ in hooks]))


def without_hooks(path: Path) -> FileChange:
    """The file without our groups: byte for byte as before, when nobody has changed it since.

    Raises:
        NotEditable: The file is no JSON, or a comment is in what would have to go.
    """
    return _removing(path, _without_hooks, others=_foreign)


def has_hooks(path: Path, wanted: Mapping[str, object]) -> bool:
    """Whether all our groups are in a file that its agent reads.

    Raises:
        NotEditable: The file is no strict JSON.
    """
    with _naming(path):
        return _has(_strict(read_text(path)), wanted)


def with_server(path: Path, entry: Mapping[str, Any]) -> FileChange:
    """The file with our server; an older entry of ours goes first.

    Raises:
        NotEditable: The file is no strict JSON, or another server has our name.
    """
    before = read_text(path)
    with _naming(path):
        found = server_in(_strict(before))
        if found is not None:
            require_our_server(found, line=line_of_server(before or ""))
            if found == entry or set(found) != set(entry):  # somebody has added to it: then it is as they want it
                return no_change(path, before)
        base = _json_base(path, before, _without_server)
        value = _strict(base)
        texts = _inserted(base, [((_JSON_SERVERS, SERVER), dict(entry))])
        wanted = {**value, _JSON_SERVERS: {**value.get(_JSON_SERVERS, {}), SERVER: dict(entry)}}
        require_same(parse(texts[-1]).value, wanted, path=path)
    return inserting(path, before, base, texts, kept=_containers(value, [(_JSON_SERVERS, SERVER)]))


def without_server(path: Path) -> FileChange:
    """The file without our server; another one of its name stays.

    Raises:
        NotEditable: The file is no JSON, or a comment is in what would have to go.
    """

    def without_ours(text: str, kept: Kept) -> str:
        return _without_server(text, kept) if is_our_server(server_in(parse(text).value)) else text

    return _removing(path, without_ours, others=_other_servers)


def server_in(value: object) -> Any:  # noqa: ANN401  (JSON)
    """What a file of settings has under our server's name; None where nothing is."""
    servers = value.get(_JSON_SERVERS) if isinstance(value, dict) else None
    return servers.get(SERVER) if isinstance(servers, dict) else None


def line_of_server(text: str) -> int | None:
    """The line of the entry with our server's name; None where it is not known."""
    try:
        node = parse(text).members[_JSON_SERVERS].members[SERVER]
    except (NotEditable, KeyError):
        return None
    return line_of(text, node.start)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Names the file in what is refused within."""
    try:
        yield
    except NotEditable as problem:
        raise problem.at(path) from None


def _removing(path: Path, without: Callable[[str, Kept], str], *, others: Callable[[object], object]) -> FileChange:
    """The file without us: the bytes of before where they are known, else what ``without`` leaves of the text.

    ``others`` is what must be the same before and after.
    """
    before = read_text(path)
    back = undone(path)
    if back is not None or before is None or is_blank(before):
        return back or no_change(path, before)
    with _naming(path):
        after = without(before, kept_containers(path))
        require_same(others(parse(after).value), others(parse(before).value), path=path)
        _require_comments(before, after)
    return edited(path, before, after)


def _strict(text: str | None) -> Any:  # noqa: ANN401  (JSON)
    if text is None or is_blank(text):
        return {}
    require_strict(text)
    return parse(text).value


def _json_base(path: Path, before: str | None, without: Any) -> str | None:  # noqa: ANN401  (from text to text)
    """The file without us, which the insertions begin from; None where there would be none."""
    back = undone(path)
    if back is not None:
        return None if back.after is None else back.after.decode()
    return before if before is None or is_blank(before) else without(before, kept_containers(path))


def _inserted(base: str | None, entries: Sequence[tuple[tuple[str, ...], Any]], *, append: bool = False) -> list[str]:
    """The texts that lead from ``base`` to the one with all entries, one insertion after the other."""
    texts = [(base or "") + _EMPTY] if is_blank(base) else [base or ""]
    for path, value in entries:
        texts.append(inserted(texts[-1], path, value, append=append))
    return texts


def _containers(value: object, paths: Sequence[tuple[str, ...]]) -> Kept:
    """The lists and objects on the paths to our entries that a value has."""
    found = set()
    for path in paths:
        inner = value
        for depth, name in enumerate(path, 1):
            if not isinstance(inner, dict) or name not in inner:
                break
            inner = inner[name]
            found.add(path[:depth])
    return frozenset(found)


def _has(value: object, wanted: Mapping[str, object]) -> bool:
    hooks = value.get("hooks") if isinstance(value, dict) else None
    if not isinstance(hooks, dict):
        return False
    return all([one for one in _listed(hooks.get(event)) if is_ours(one)] == [group] for event, group in wanted.items())


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _without_hooks(text: str, kept: Kept = frozenset()) -> str:
    value = parse(text).value
    hooks = value.get("hooks") if isinstance(value, dict) else None
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for place, group in enumerate(_listed(groups)):
            if not is_ours(group):  # somebody has added a handler of their own to ours: theirs stays
                text = without_items(text, ("hooks", event, place, "hooks"), is_our_handler)
        text = without_items(text, ("hooks", event), is_ours, kept=kept)
    return text


def _without_server(text: str, kept: Kept = frozenset()) -> str:
    return without_member(text, (_JSON_SERVERS, SERVER), kept=kept)


def _foreign(value: object) -> object:
    """A value without what is ours in its hooks, and without lists and objects of hooks that hold nothing."""
    hooks = value.get("hooks") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(hooks, dict):
        return value
    left = {}
    for event, groups in hooks.items():
        others = groups
        if isinstance(groups, list):
            others = [_without_our_handlers(group) for group in groups if not is_ours(group)]
        if others != []:
            left[event] = others
    return _with_member(value, "hooks", left)


def _without_our_handlers(group: object) -> object:
    handlers = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(group, dict) or not isinstance(handlers, list):
        return group
    return {**group, "hooks": [one for one in handlers if not is_our_handler(one)]}


def _other_servers(value: object) -> object:
    servers = value.get(_JSON_SERVERS) if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(servers, dict):
        return value
    return _with_member(value, _JSON_SERVERS, {name: one for name, one in servers.items() if name != SERVER})


def _with_member(value: dict[str, Any], name: str, member: dict[str, Any]) -> dict[str, Any]:
    """A value with another member in the place of one, or without it when the other holds nothing."""
    rest = {key: one for key, one in value.items() if key != name}
    return {**rest, name: member} if member else rest


def _require_comments(before: str, after: str) -> None:
    """Refuses to take a comment out with what is ours.

    Raises:
        NotEditable: One would be lost.
    """
    old = comments(before)
    left = [one.text for one in comments(after)]
    lost = next((one for place, one in enumerate(old) if left[place : place + 1] != [one.text]), None)
    if lost is not None:
        problem = "a comment stands in what would be taken out"
        raise NotEditable(problem, line=line_of(before, lost.start), advice="take it out by hand")


def require_our_server(found: object, *, line: int | None, path: Path | None = None) -> None:
    """Refuses the entry of another server under our name.

    Raises:
        NotEditable: It is another's.
    """
    if not is_our_server(found):
        advice = "give it another name, or paste what `--print` shows under another one"
        raise NotEditable(f"another server is called {SERVER}", line=line, path=path, advice=advice)


_TOML_SERVERS = "mcp_servers"
_BOM = "\ufeff"
#: ``[mcp_servers.helix]`` and the tables below it; without a comment, for that would be lost with the line.
_OUR_HEADER = re.compile(rf"""\s*\[\s*{_TOML_SERVERS}\s*\.\s*["']?{SERVER}["']?\s*(?:\.[^\]#]*)?\]\s*""")
_HEADER = re.compile(r"\s*\[")
#: A setting on one line, without a comment behind it.
_SETTING = re.compile(r"""\s*[\w."'-]+\s*=\s*(?:"[^"#]*"|'[^'#]*'|\[[^\[\]#]*\]|\{[^{}#]*\}|[\w.+-]+)\s*""")
_NAMED = re.compile(rf"""\s*(?:\[\s*{_TOML_SERVERS}\s*\.\s*)?["']?{SERVER}["']?\s*[\].=]""")
_INLINE = re.compile(rf"""\s*["']?{_TOML_SERVERS}["']?\s*=""")


def read_toml(path: Path) -> dict[str, Any]:
    """What a file of TOML says; nothing where there is none.

    Raises:
        NotEditable: It is no TOML.
    """
    return _parsed(read_text(path) or "", path)


def server_in_toml(value: Mapping[str, Any]) -> Any:  # noqa: ANN401  (TOML)
    """What a file of settings has under our server's name; None where nothing is."""
    servers = value.get(_TOML_SERVERS)
    return servers.get(SERVER) if isinstance(servers, dict) else None


def with_toml_server(path: Path, entry: Mapping[str, Any]) -> FileChange:
    """A file of TOML with our server in a table at its end; an older table of ours goes first.

    Raises:
        NotEditable: The file is no TOML, another server has our name, or the servers are in an inline table.
    """
    before = read_text(path)
    text = before or ""
    found = server_in_toml(_parsed(text, path))
    if found is not None:
        require_our_server(found, path=path, line=_line(text, _NAMED))
        if found == entry or set(found) != set(entry):  # somebody has added to it: then it is as they want it
            return no_change(path, before)
    back = undone(path)
    if back is not None:
        base = None if back.after is None else back.after.decode()
    else:  # the file without us, which our table is put at the end of
        base = before if before is None or found is None else _without(before, path)
    old = _parsed(base or "", path)
    if not isinstance(old.get(_TOML_SERVERS, {}), dict):
        raise NotEditable(f"{_TOML_SERVERS} is no table", path=path, line=_line(text, _INLINE))
    new = (base or "") + _table(base or "", entry)
    wanted = {**old, _TOML_SERVERS: {**old.get(_TOML_SERVERS, {}), SERVER: dict(entry)}}
    require_same(_added(new, path), wanted, path=path, line=_line(text, _INLINE))
    return inserting(path, before, base, [new], kept=())


def without_toml_server(path: Path) -> FileChange:
    """A file of TOML without our table; another server of its name stays.

    Raises:
        NotEditable: The file is no TOML, or our server has another form than ours there.
    """
    text = read_text(path)
    if (back := undone(path)) is not None:
        return back
    if text is None or not is_our_server(server_in_toml(_parsed(text, path))):
        return no_change(path, text)
    return edited(path, text, _without(text, path))


def line_of_toml_server(path: Path) -> int | None:
    """The line of something with our server's name, as far as it is known."""
    return _line(read_text(path) or "", _NAMED)


def _without(text: str, path: Path) -> str:
    """The text without our header and the settings below it; blank lines and comments stay.

    Raises:
        NotEditable: Something there is no setting of one line.
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
    """What a text says that our server was cut out of; None when it is still there, or the text is no TOML."""
    try:
        value = tomllib.loads(text.removeprefix(_BOM))
    except tomllib.TOMLDecodeError:
        return None
    return _others(value) if server_in_toml(value) is None else None


def _others(value: Mapping[str, Any]) -> dict[str, Any]:
    """What a file says without our server, and without a table of servers that holds nothing."""
    rest = {name: one for name, one in value.items() if name != _TOML_SERVERS}
    servers = {name: one for name, one in value.get(_TOML_SERVERS, {}).items() if name != SERVER}
    return {**rest, _TOML_SERVERS: servers} if servers else rest


def _added(new: str, path: Path) -> dict[str, Any]:
    """What the file says with our table; it was TOML without it.

    Raises:
        NotEditable: The servers are in an inline table, to which TOML lets nobody add a table.
    """
    try:
        return tomllib.loads(new.removeprefix(_BOM))
    except tomllib.TOMLDecodeError as error:
        problem = f"{_TOML_SERVERS} is an inline table, which no other table can be added to"
        advice = f"write it as [{_TOML_SERVERS}.NAME], or paste what `--print` shows"
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
    rows = [f"[{_TOML_SERVERS}.{SERVER}]", *toml_settings(entry)]
    before = ("" if ended else line) + (line if whole else "")
    return before + line.join(rows) + (line if ended else "")
