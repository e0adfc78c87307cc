"""Names: an episode is called by its file, by its id and by its session, and the three have to agree.

Two of them outvote the third: a file is renamed, an id or a session is written anew. A copy of an episode that is here
under its own name, and a file whose three names are three, are set aside.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from helix_episodes.errors import InvalidSessionId, WriteFailed
from helix_episodes.files import replace_file
from helix_episodes.store import PREFIX, check_session_id, encode_episode
from helix_graph.doctor.model import trouble
from helix_graph.doctor.secrets import data_of
from helix_graph.setting_aside import keep_aside, set_aside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from helix_episodes.model import Episode
    from helix_graph.doctor.model import Trouble


def name_troubles(root: Path, path: Path, episode: Episode) -> Iterator[Trouble]:
    """What is wrong with an episode's names."""
    if path.stem == episode.id == PREFIX + episode.session:
        return
    remedy, mend = _mending(root, path, episode)
    problem = f"its id is {episode.id!r} and its session {episode.session!r}, which are not its file's"
    yield trouble("misnamed episode", path.relative_to(root).as_posix(), problem, remedy, mend=mend)


def _mending(root: Path, path: Path, episode: Episode) -> tuple[str, Callable[[], object]]:
    own = path.stem.removeprefix(PREFIX)
    if path.stem in {episode.id, PREFIX + episode.session}:
        fixed = replace(episode, id=path.stem, session=own)
        return f"id and session should be those of {path.name}", partial(
            rewrite, root, path, before=data_of(path), after=fixed
        )
    right = path.with_name(f"{episode.id}.json")
    if episode.id == PREFIX + episode.session and _is_free(right, episode.session):
        return f"rename it to {right.name}", partial(_rename, path, right)
    return "it is a copy or has no name of its own: helix-graph doctor --fix sets it aside", partial(
        set_aside, root, path
    )


def _is_free(path: Path, session: str) -> bool:
    try:
        check_session_id(session)
    except InvalidSessionId:
        return False
    return not path.exists()


def _rename(path: Path, right: Path) -> None:
    """Through a link, which fails where `rename` would write over what another process has just made."""
    try:
        right.hardlink_to(path)
        path.unlink()
    except OSError as error:
        raise WriteFailed(path=right, problem=error.strerror or str(error)) from error


def rewrite(root: Path, path: Path, *, before: bytes, after: Episode) -> bool:
    """Writes an episode anew, unless somebody has changed it; as it was it is kept aside.

    Raises:
        WriteFailed: The disk is full or the folder read-only.
    """
    keep_aside(root, path, before)
    return replace_file(path, before=before, after=encode_episode(after))
