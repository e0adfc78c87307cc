"""What was forgotten here is deleted on the team's server, and looked for there: what is left and who can delete it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_graph.errors import TeamServerFailed
from helix_graph.project import FORGOTTEN, SERVER_VARIABLE
from helix_graph.shared_authors import author_name
from helix_graph.sharing.model import ServerErasure
from helix_graph.sharing.pushing import Pushing, own_objects
from helix_graph.sharing.replica import subject_of_session
from helix_graph.sharing.server import TeamServer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from helix_graph.sharing.own_records import OwnRecords
    from helix_graph.sharing.replica import Replica

#: What deletes on the server what could not be deleted there at once. A memory that came from elsewhere deletes only
#: what it pushed itself.
_LATER = "the next `helix-graph sync --to` does it"
_LATER_ELSEWHERE = (
    "the next `helix-graph sync --to` deletes there what it pushed itself; forget the rest in the memory that pushed it"
)


def erase(replica: Replica, own: OwnRecords, address: str, sessions: Iterable[str]) -> ServerErasure | None:
    """As `helix_graph.sharing.team.Team.erase`, on the server at this address."""
    state, is_known = replica.state, bool(replica.written.project)
    later = _LATER if replica.is_begun_here else _LATER_ELSEWHERE
    if not state.project:
        return ServerErasure(problem=f"this memory came from elsewhere; {later}") if is_known else None
    if not address:
        return ServerErasure(problem=f"no server is named, so set {SERVER_VARIABLE}; {later}")
    try:
        with TeamServer(address, state.project) as server:
            standing = server.standing()  # whoever is no member any more sees nothing there, though it is not gone
            if standing.server != state.server:
                other = "is another server than the one that this memory takes part in"
                return ServerErasure(problem=f"{SERVER_VARIABLE} {other}; name that one, and {later}")
            deleted = set[str]()
            if standing.may_write:
                pushing = Pushing(server, replica, own)
                pushing.push(pushing.records(own_objects(own)))
                pushing.push_lines(is_forgetting=True)
                deleted = pushing.deleted
            forgotten = {path.stem for path in (replica.root / FORGOTTEN).glob("*.json")}
            found = server.trace(forgotten | deleted, rests_on=forgotten | own.let_go())
            others = server.other_authors(map(subject_of_session, sessions))
    except TeamServerFailed as error:
        return ServerErasure(problem=f"{error}; {later}")
    reads = f"{author_name(standing.role)} may only read there; an administrator deletes what is left"
    return ServerErasure(
        deleted=len(deleted),
        left=found.objects,
        tombstones=found.tombstones,
        others=sum(one.objects for one in others),
        authors=tuple(author_name(one.author) for one in others),
        problem=reads if found.objects and not standing.may_write else "",
    )
