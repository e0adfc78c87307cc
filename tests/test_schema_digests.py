"""Is everything that our schemas make known, so that what somebody else put into a database is refused?

After a change to a schema, ``make schema`` writes `helix_graph.schema_digests` anew.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from helix_graph import schema_digests
from helix_graph.embedding.cache import VECTOR_CACHE
from helix_graph.graph.graph_db import GRAPH_FILE
from helix_graph.helix_db import HELIX_DB, Tables
from helix_graph.insights.schema import INSIGHT_TABLES
from helix_graph.plans.schema import PLAN_TABLES
from helix_graph.topics.schema import TOPIC_TABLES
from schema_objects import made_by

ROOMS = (INSIGHT_TABLES, PLAN_TABLES, TOPIC_TABLES)

HEAD = '''"""Everything that may be in the schema of our databases, by `helix_graph.database.object_digest`.

Written by ``make schema`` from the schemas, of all their versions; what older programs made stays. A hook that made
all tables only to compare them would take four milliseconds longer.
"""

from __future__ import annotations

'''


def by_room(tables: Tables) -> set[str]:
    return set(made_by((HELIX_DB.schema, *tables.steps)))


def known() -> dict[str, set[str]]:
    return {
        "HELIX_OBJECTS": set(chain.from_iterable(map(by_room, ROOMS))),
        "GRAPH_OBJECTS": set(made_by((GRAPH_FILE.schema, GRAPH_FILE.indexes))),
        "VECTOR_OBJECTS": set(made_by((VECTOR_CACHE.schema,))),
    }


def as_module(sets: dict[str, set[str]]) -> str:
    versions = ", ".join(f'"{one.room}": {len(one.steps)}' for one in ROOMS)
    parts = [as_constant(name, sorted(made | set(getattr(schema_digests, name)))) for name, made in sets.items()]
    return "\n".join((f"{HEAD}ROOM_VERSIONS = {{{versions}}}\n", *parts))


def as_constant(name: str, digests: list[str]) -> str:
    rows = (digests[place : place + 5] for place in range(0, len(digests), 5))
    lines = "".join("    {}\n".format(" ".join(f'"{one}",' for one in row)) for row in rows)
    return f"{name} = frozenset({{\n{lines}}})  # fmt: skip\n"


def test_the_module_has_what_the_schemas_make() -> None:
    sets = known()
    assert all(sets.values())
    assert {one.room: len(one.steps) for one in ROOMS} == schema_digests.ROOM_VERSIONS
    unknown = {name: made - getattr(schema_digests, name) for name, made in sets.items()}
    assert not any(unknown.values()), "a schema has changed: run `make schema`"


if __name__ == "__main__":  # with tests/helpers on PYTHONPATH
    Path(schema_digests.__file__).write_text(as_module(known()), encoding="utf-8")
