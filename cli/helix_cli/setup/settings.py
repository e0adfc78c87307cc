"""Change files of settings: JSON and TOML, with one dated backup, so that removing restores the earlier bytes.

Every change is worked out and checked first. The backup next to an edited file keeps the file without our entries;
the records keep digests of both, and no word of anybody's settings. When nobody has edited the file since, removing
restores the backup; otherwise only our entries go.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import re
import tomllib
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from helix_cli.setup.definitions import SERVER, is_our_handler, is_our_server, is_ours, toml_table
from helix_cli.setup.errors import NotEditable
from helix_cli.setup.jsonc import line_at, merged, parse, strict_value
from helix_episodes.errors import WriteFailed
from helix_episodes.safe_files import irregularity, remove_file, write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_BOM = "\ufeff"
_ROOT = 0
JSON_SERVERS = "mcpServers"
TOML_SERVERS = "mcp_servers"
_NAMED = re.compile(rf"""\s*(?:\[\s*{TOML_SERVERS}\s*\.\s*)?["']?{SERVER}["']?\s*[\].=]""")
_INLINE = re.compile(rf"""\s*["']?{TOML_SERVERS}["']?\s*=""")


class FileRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Digests of a file as setup wrote it and of its backup; ``made`` says that there was no file before."""

    after: str
    made: bool
    before: str = ""


class Records(msgspec.Struct, frozen=True, kw_only=True):
    """The files that setup changed on this machine, and the servers that an agent's own command was asked to add."""

    files: dict[str, FileRecord] = {}
    servers: tuple[str, ...] = ()

    def save(self) -> None:
        """Writes them.

        Raises:
            WriteFailed: They cannot be written.
        """
        _write(_records_path(), msgspec.json.encode(self).decode(), like=_records_path())


def _records_path() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "helix-graph" / "setup.json"


def records() -> Records:
    """What is known of earlier runs; nothing where the records cannot be read."""
    try:
        return msgspec.json.decode(_records_path().read_bytes(), type=Records)
    except (OSError, msgspec.MsgspecError):  # what is ours is still found by what it says
        return Records()


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of a file: its text before and after, None where there is no file.

    ``kept`` is what the backup holds, None where nothing of anybody's is replaced. A change that ``installs`` something
    is recorded. ``within`` is the folder of our own that the file is in, if any.
    """

    path: Path
    before: str | None
    after: str | None
    kept: str | None = None
    installs: bool = False
    within: Path | None = None

    @property
    def is_none(self) -> bool:
        """Whether everything is as it should be already."""
        return self.before == self.after

    @property
    def diff(self) -> str:
        """What changes, for a person to look at."""
        old, new = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        return "".join(difflib.unified_diff(old, new, fromfile=str(self.path), tofile=str(self.path)))

    @property
    def backup(self) -> Path | None:
        """Where the backup goes; None where there is none."""
        target = self.path.resolve()
        name = f"{target.name}.helix-graph-{datetime.now(UTC).date().isoformat()}.bak"
        return None if self.is_none or self.kept is None else target.with_name(name)


def read_text(path: Path) -> str | None:
    """The text of a file, line ends unchanged; None where there is none.

    Raises:
        NotEditable: It cannot be read, or is no text.
    """
    problem = irregularity(path, follow=True)
    if problem:
        raise NotEditable(problem, path=path)
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise NotEditable(str(error), path=path) from error


def undone(path: Path) -> FileChange | None:
    """The change that restores the bytes of before, when nobody has edited the file since; else None."""
    now, record = read_text(path), records().files.get(str(path.resolve()))
    if now is None or record is None or record.after != _digest(now):
        return None
    original = _original(path)
    return FileChange(path=path, before=now, after=original) if record.made or original is not None else None


def apply(changes: Sequence[FileChange]) -> None:
    """Makes the changes, and records how to take them out again.

    Raises:
        NotEditable: Somebody has changed one of the files meanwhile; nothing is done then.
        WriteFailed: One cannot be written; those before it are done.
    """
    for change in changes:
        if read_text(change.path) != change.before:
            raise NotEditable("somebody is changing it at this moment", path=change.path, advice="try again")
    found = records()
    files = dict(found.files)
    try:
        for change in changes:
            _replace(change)
            files.pop(str(change.path.resolve()), None)
            if change.installs and change.after is not None:
                before = _digest(change.kept) if change.kept is not None else ""
                record = FileRecord(after=_digest(change.after), made=change.kept is None, before=before)
                files[str(change.path.resolve())] = record
    finally:
        if files != found.files:
            msgspec.structs.replace(found, files=dict(sorted(files.items()))).save()


def _replace(change: FileChange) -> None:
    """Writes where a link leads to, for the same owner and with the same permissions."""
    target = change.path.resolve()
    if change.after is None:
        remove_file(target)
        folder = target.parent
        while change.within and folder.is_relative_to(change.within.resolve()) and not any(folder.iterdir()):
            folder.rmdir()  # a folder of our own
            folder = folder.parent
    else:
        if change.backup and change.kept is not None:
            _write(change.backup, change.kept, like=target)
        _write(target, change.after, like=target)
    for one in _backups(target):
        if one != change.backup:
            remove_file(one)


def _write(path: Path, text: str, *, like: Path) -> None:
    """Writes a file with the owner and the mode of ``like``; without such a file, for its folder's owner alone."""
    try:
        for folder in reversed([one for one in (path.parent, *path.parent.parents) if not one.exists()]):
            folder.mkdir()
            os.chown(folder, *(_owner_of_new(folder) or (-1, -1)))  # -1 leaves it as it is
    except OSError as error:
        raise WriteFailed(path=path.parent, problem=error.strerror or str(error)) from error
    try:
        found = like.stat()
    except FileNotFoundError:  # settings may hold keys
        write_atomically(path, text.encode(), mode=0o600, owner=_owner_of_new(path))
    else:
        write_atomically(path, text.encode(), mode=found.st_mode & 0o7777, owner=(found.st_uid, found.st_gid))


def _owner_of_new(path: Path) -> tuple[int, int] | None:
    """The owner of the folder; None where only root could give a file away."""
    found = path.parent.stat()
    return (found.st_uid, found.st_gid) if os.geteuid() == _ROOT else None


def _backups(target: Path) -> list[Path]:
    """The backups next to a file."""
    begin = f"{target.name}.helix-graph-"
    try:
        return sorted(one for one in target.parent.iterdir() if one.name.startswith(begin) and one.suffix == ".bak")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise WriteFailed(path=target.parent, problem=error.strerror or str(error)) from error


def _original(path: Path) -> str | None:
    """The text of a file before setup changed it; None where it is not known, or there was none."""
    record = records().files.get(str(path.resolve()))
    for one in _backups(path.resolve()) if record and record.before else ():
        with suppress(OSError, UnicodeDecodeError):
            text = one.read_bytes().decode()
            if record and _digest(text) == record.before:
                return text
    return None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def with_entries(path: Path, entries: Entries) -> FileChange:
    """The file with our entries; older entries of ours go first.

    Raises:
        NotEditable: The file is not what it should be, or another server has our name.
    """
    before = read_text(path)
    with _naming(path):
        if entries.has(before or ""):
            return FileChange(path=path, before=before, after=before)
        back = undone(path)
        if back is not None:
            base = back.after
        else:
            base = before if _is_blank(before) else entries.remove(before or "", _original(path) or "")
        after = entries.add(base or "")
    return FileChange(path=path, before=before, after=after, kept=base, installs=True)


def without_entries(path: Path, entries: Entries) -> FileChange:
    """The file without our entries: byte for byte as before, when nobody has edited it since.

    Raises:
        NotEditable: The file is not what it should be, or a comment would have to go.
    """
    before, back = read_text(path), undone(path)
    if back is not None or before is None or _is_blank(before):
        return back or FileChange(path=path, before=before, after=before)
    with _naming(path):
        after = entries.remove(before, _original(path) or "")
    return FileChange(path=path, before=before, after=after, kept=before)


def has_entries(path: Path, entries: Entries) -> bool:
    """Whether all our entries are in a file that its agent reads.

    Raises:
        NotEditable: The file is not what it should be.
    """
    with _naming(path):
        return entries.has(read_text(path) or "")


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Names the file in what is refused within."""
    try:
        yield
    except NotEditable as problem:
        raise problem.at(path) from None


def _is_blank(text: str | None) -> bool:
    return not (text or "").strip("\ufeff \t\r\n")


class JsonHooks:
    """Our group at the end of the list of each event."""

    def __init__(self, wanted: Mapping[str, Mapping[str, Any]]) -> None:
        self._wanted = wanted

    def has(self, text: str) -> bool:
        """Whether each list has our group, and no other of ours."""
        hooks = _member(strict_value(text), "hooks")
        found = {event: [one for one in _listed(hooks.get(event)) if is_ours(one)] for event in self._wanted}
        return found == {event: [group] for event, group in self._wanted.items()}

    def add(self, text: str) -> str:
        """The text with our groups."""
        value = strict_value(text)
        hooks = _member(value, "hooks")
        for event, group in self._wanted.items():
            hooks = {**hooks, event: [*_listed(hooks.get(event)), group]}
            text = _with_member(text, value, "hooks", hooks)
        return text

    def remove(self, text: str, original: str) -> str:
        """The text without our groups, and without our handlers in a group to which somebody has added their own."""
        value = parse(text).value
        hooks = _member(value, "hooks")
        lists = {event: groups for event, groups in hooks.items() if isinstance(groups, list)}
        if not lists:
            return text
        lists = {event: [_without_our_handlers(one) for one in groups] for event, groups in lists.items()}
        text = merged(text, {**value, "hooks": {**hooks, **lists}})
        others = {event: [one for one in groups if not is_ours(one)] for event, groups in lists.items()}
        before = _original_value(original)
        others = _without_emptied({**hooks, **others}, hooks, _member(before, "hooks"))
        return merged(text, _without_emptied({**value, "hooks": others}, value, before))


class JsonServer:
    """Our server among those in a file of JSON."""

    def __init__(self, entry: Mapping[str, Any]) -> None:
        self._entry = dict(entry)

    def has(self, text: str) -> bool:
        """Whether it is there as it should be, or as somebody has changed it."""
        found = server_in(strict_value(text), JSON_SERVERS)
        return _is_current(found, self._entry, line_at(text, (JSON_SERVERS, SERVER)) if found is not None else None)

    def add(self, text: str) -> str:
        """The text with our server."""
        value = strict_value(text)
        return _with_member(text, value, JSON_SERVERS, {**_member(value, JSON_SERVERS), SERVER: self._entry})

    def remove(self, text: str, original: str) -> str:
        """The text without our server; another one of its name stays."""
        value = parse(text).value
        servers = _member(value, JSON_SERVERS)
        if not is_our_server(servers.get(SERVER)):
            return text
        others = {name: one for name, one in servers.items() if name != SERVER}
        return merged(text, _without_emptied({**value, JSON_SERVERS: others}, value, _original_value(original)))


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


def _is_current(found: Any, entry: Mapping[str, Any], line: int | None) -> bool:  # noqa: ANN401  (JSON or TOML)
    if found is None:
        return False
    require_our_server(found, line=line)
    return found == entry or set(found) != set(entry)  # somebody has added to it: then it is as they want it


def _with_member(text: str, value: object, name: str, member: Mapping[str, Any]) -> str:
    text = text + "{}\n" if _is_blank(text) else text
    return merged(text, {**_dict(value), name: member})


def _without_emptied(new: dict[str, Any], old: Mapping[str, Any], original: Mapping[str, Any]) -> dict[str, Any]:
    """An object without the members that held something before, hold nothing now and are not in the original."""
    return {name: one for name, one in new.items() if one or one == old[name] or name in original}


def _original_value(original: str) -> dict[str, Any]:
    return {} if _is_blank(original) else _dict(parse(original).value)


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


class TomlServer:
    """Our server in a table at the end of a file of TOML, where it moves no comment."""

    def __init__(self, entry: Mapping[str, Any]) -> None:
        self._entry = dict(entry)

    def has(self, text: str) -> bool:
        """Whether it is there as it should be, or as somebody has changed it."""
        return _is_current(server_in(toml_value(text), TOML_SERVERS), self._entry, line_of_toml_server(text))

    def add(self, text: str) -> str:
        """The text with our table, in the file's own line ends, and with a line end where the file has one."""
        value = toml_value(text)
        servers = value.get(TOML_SERVERS, {})
        if not isinstance(servers, dict):
            raise NotEditable(f"{TOML_SERVERS} is no table", line=_line(text, _INLINE))
        line, whole = "\r\n" if "\r\n" in text else "\n", text.removeprefix(_BOM)
        is_ended = not whole or whole.endswith("\n")
        gap = ("" if is_ended else line) + (line if whole else "")
        new = text + gap + line.join(toml_table(self._entry)) + (line if is_ended else "")
        try:
            found = toml_value(new)
        except NotEditable as error:
            problem = f"{TOML_SERVERS} is an inline table, which no other table can be added to"
            advice = f"write it as [{TOML_SERVERS}.NAME], or paste what `--print` shows"
            raise NotEditable(problem, line=_line(new, _INLINE), advice=advice) from error
        if found != {**value, TOML_SERVERS: {**servers, SERVER: self._entry}}:
            raise _not_alone(_line(text, _INLINE))
        return new

    def remove(self, text: str, original: str) -> str:
        """The text without our server; comments and blank lines stay, and so does another server of its name.

        Raises:
            NotEditable: A comment is on one of our lines, or one of them says something else too.
        """
        del original  # setup adds no table that others share
        value = toml_value(text)
        if not is_our_server(server_in(value, TOML_SERVERS)):
            return text
        import tomlkit
        from tomlkit.exceptions import TOMLKitError

        try:
            document = tomlkit.parse(text.removeprefix(_BOM))
            del document[TOML_SERVERS][SERVER]
        except TOMLKitError as error:
            raise _not_alone(line_of_toml_server(text)) from error
        others = document.as_string().splitlines(keepends=True)
        left = []
        for row in text.removeprefix(_BOM).splitlines(keepends=True):
            if others and row == others[0]:
                left.append(others.pop(0))
            elif not row.strip() or row.lstrip().startswith("#"):
                left.append(row)
            elif "#" in row:
                raise _not_alone(line_of_toml_server(text))
        new = text[: text.startswith(_BOM)] + "".join(left)
        del value[TOML_SERVERS][SERVER]
        if others or _without_empty(toml_value(new)) != _without_empty(value):
            raise _not_alone(line_of_toml_server(text))
        return new


#: What setup adds to one file of settings: whether a text ``has`` it, ``add`` it to one that has not, ``remove`` it
#: with the lists and objects that it left empty and that the original text lacks.
Entries = JsonHooks | JsonServer | TomlServer


def toml_value(text: str) -> dict[str, Any]:
    """What a text says in TOML.

    Raises:
        NotEditable: It is no TOML.
    """
    try:
        return tomllib.loads(text.removeprefix(_BOM))
    except tomllib.TOMLDecodeError as error:
        raise NotEditable(f"it is no TOML: {error}") from error


def read_toml(path: Path) -> dict[str, Any]:
    """What a file of TOML says; nothing where there is none.

    Raises:
        NotEditable: It is no TOML.
    """
    with _naming(path):
        return toml_value(read_text(path) or "")


def line_of_toml_server(text: str) -> int | None:
    """The line of something with our server's name, as far as it is known."""
    return _line(text, _NAMED)


def _line(text: str, sought: re.Pattern[str]) -> int | None:
    lines = enumerate(text.removeprefix(_BOM).splitlines(), start=1)
    return next((number for number, line in lines if sought.match(line)), None)


def _without_empty(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in value.items() if name != TOML_SERVERS or one}


def _not_alone(line: int | None) -> NotEditable:
    problem = "our entry stands here in a form that cannot be edited without touching anything else"
    return NotEditable(problem, line=line, advice="edit it by hand; `--print` shows what it is about")
