"""Harvesting: lessons and fixes of episodes become insights, marked as derived and linked to where they came from.

A fix becomes one insight for its issue, whatever number of sessions repaired it: the text generalises over them
(`helix_graph.insights.lessons`), and is written anew when another session repairs the issue.

They start lower than what a person stored (`ScoringSettings.derived`). Harvesting the same episode again changes
nothing, and the order of episodes makes no difference: uids, names and dates follow from what was learnt. Of several
episodes with the same lesson (`HarvestedLesson.key`) the earliest gives the words, and all give links. Lessons
that say the same in other words (a cosine of at least 0.85, and no difference that `helix_graph.insights.dedup` finds)
are merged as well, the later into the earlier, at each harvest; so is a lesson that somebody stored already. Fixes are
merged by facts alone: sentences of one pattern look alike to a model though the errors differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, TypedDict

from msgspec.structs import replace

from helix_episodes.errors import HelixGraphError
from helix_episodes.store import PREFIX
from helix_graph.helix_db import parse_stamp
from helix_graph.insights import feedback, rows
from helix_graph.insights.dedup import same_advice
from helix_graph.insights.lessons import HarvestedLesson, lessons_of, recipe_text
from helix_graph.insights.links import find_link, links_of, new_link, write_link
from helix_graph.insights.model import (
    DERIVED,
    FIX,
    HARVEST_SOURCE,
    LESSON,
    Insight,
    StoredInsight,
    TextVector,
)
from helix_graph.insights.safe_quoting import flat
from helix_graph.insights.schema import damaged_among, text_digest
from helix_graph.insights.scoring import LONGEST_CONTENT, LONGEST_NAME, SHORTEST_CONTENT, content_length
from helix_graph.insights.storing import adopt, clean_content, slug_of
from helix_graph.project import digest, forgotten_digests, forgotten_elsewhere
from helix_graph.trust import team_marker
from helix_graph.validation import as_datetime, as_str

if TYPE_CHECKING:
    import sqlite3
    from datetime import date

    from helix_episodes.model import Episode
    from helix_graph.insights.context import InsightContext
    from helix_graph.insights.vectors import Floats


#: Digits of the uid behind every derived name, so that a name never depends on which of two came first.
_DIGITS = 8


class HarvestAnswer(TypedDict):
    """What a harvest brought.

    ``added`` are new insights, ``known`` were there, ``taken_in`` went into what somebody had told, ``kept_out`` are
    those that a person rejected or forgot, or that say too little. ``repairs`` are all that were seen: a fix is one of
    them that names what was wrong and has one verified change. ``merged`` lessons say the same as an earlier one.
    """

    episodes: int
    lessons: int
    fixes: int
    repairs: int
    added: list[str]
    known: int
    taken_in: int
    kept_out: int
    merged: int
    links: int
    dry_run: bool


class HarvestGroup(list["HarvestedLesson"]):
    """All that is the same, the first first, and the uid of the insight that they are."""

    @property
    def uid(self) -> str:
        """It follows from what is the same in all of them."""
        return text_digest(f"{HARVEST_SOURCE}\0{self[0].key}")

    @property
    def content(self) -> str:
        """The words of the first lesson, or what all fixes of the issue have in common."""
        recipes = [one.recipe for one in self if one.recipe is not None]
        return flat(recipe_text(recipes))[:LONGEST_CONTENT] if recipes else self[0].content

    @property
    def name(self) -> str:
        """It follows from the same, so it does not depend on which of them came first."""
        tail = f"-{self.uid[:_DIGITS]}"
        recipe = self[0].recipe
        words = self[0].key.partition("\0")[2].replace("\0", " ")
        if recipe is not None and not recipe.rule:  # its key is a hash
            words = f"{recipe.check} {recipe.exception} {recipe.trouble}"
        return (slug_of(words) or HARVEST_SOURCE)[: LONGEST_NAME - len(tail)].rstrip("-") + tail


def harvest(
    context: InsightContext, episode: str | None = None, *, since: date | None = None, dry_run: bool = False
) -> HarvestAnswer:
    """Takes in the lessons and verified fixes of all episodes, of one, or of those that began ``since``.

    Raises:
        NoMemory: These insights belong to no memory with episodes.
    """
    chosen = list(_episodes(context, episode, since))
    groups = grouped(chosen)
    groups = [_with_earlier(context, group) for group in groups] if episode is not None or since else groups
    embedded = [] if dry_run else context.embed([group.content for group in groups])
    vectors = dict(zip((group.uid for group in groups), embedded, strict=False))
    answer = HarvestAnswer(
        episodes=len(chosen),
        lessons=sum(len(group) for group in groups if group[0].kind != FIX),
        fixes=sum(len(group) for group in groups if group[0].kind == FIX),
        repairs=sum(len(one.fixes) for one in chosen),
        added=[],
        known=0,
        taken_in=0,
        kept_out=0,
        merged=0,
        links=0,
        dry_run=dry_run,
    )
    with context.database.reading() if dry_run else context.database.writing() as connection:
        forgotten = forgotten_digests(context.required_history.root)  # perhaps since the episodes were read
        for read in groups:
            group = HarvestGroup(one for one in read if digest(one.episode.removeprefix(PREFIX)) not in forgotten)
            if not group:
                continue
            vector, numbers = vectors.get(group.uid, (None, None)) if group == read else (None, None)
            twin = None
            if numbers is not None and group[0].kind == LESSON:
                twin = _stored_by_others(context, connection, group.content, numbers)
            _take(context, connection, group, answer, twin=twin, vector=vector)
        answer["merged"] = 0 if dry_run else _merge_lessons(context, connection)
    answer["added"].sort()
    return answer


def _episodes(context: InsightContext, episode: str | None, since: date | None) -> Iterator[Episode]:
    episodes, start = context.required_history.episodes, as_datetime("since", since)
    if episode is not None:
        yield episodes.require(as_str("episode", episode))
        return
    for path, one in episodes.scan():
        if isinstance(one, HelixGraphError) or team_marker(path.parent.parent, path.stem).exists():
            continue  # what a colleague's session taught is theirs to say, and goes when they forget it
        if start is None or ((at := parse_stamp(one.timestamp)) and at >= start):
            yield one


def _stored_by_others(
    context: InsightContext, connection: sqlite3.Connection, content: str, vector: Floats
) -> StoredInsight | None:
    """The insight that somebody here has told, and that says the same."""
    alike = context.by_meaning(connection, vector, least=context.settings.same)
    brought = rows.brought(connection) if alike else frozenset()
    for number in (one for one in alike if one not in brought):
        for stored in rows.by_numbers(connection, [number]):
            ours = stored.insight.source == HARVEST_SOURCE or stored.insight.state == "merged"
            if not ours and same_advice(stored.insight.content, content) and not damaged_among(connection, [number]):
                return stored
    return None


def _merge_lessons(context: InsightContext, connection: sqlite3.Connection) -> int:
    """Merges each lesson into the earliest that says the same; how many are merged now."""
    if context.embedder is None:
        return 0
    from helix_graph.insights.vectors import cluster_leaders

    lessons = _harvested_lessons(connection)
    found = rows.vectors_of(connection, [one.number for one in lessons], model=context.embedder.model)
    by_number = {one.number: one for one in lessons}

    def same(one: int, other: int) -> bool:
        return same_advice(by_number[one].insight.content, by_number[other].insight.content)

    into = cluster_leaders([*by_number], found, least=context.settings.same, same=same)
    for one in lessons:
        leader = by_number[into[one.number]]
        merged_into = "" if leader is one else leader.insight.uid
        if one.insight.merged_into != merged_into:
            state = "merged" if merged_into else "active"
            rows.update(connection, one, replace(one.insight, state=state, merged_into=merged_into))
            for moved in (one, leader):
                feedback.refold(connection, moved, settings=context.settings)
    return sum(into[one.number] != one.number for one in lessons)


def _take(
    context: InsightContext,
    connection: sqlite3.Connection,
    group: HarvestGroup,
    answer: HarvestAnswer,
    *,
    twin: StoredInsight | None,
    vector: TextVector | None,
) -> None:
    """Takes in all that is the same, with its links, and counts it; ``twin`` says the same in other words."""
    first = group[0]
    if not answer["dry_run"]:
        about = {"origin": "derived", "source": HARVEST_SOURCE, "episode": first.episode}
        adopt(connection, group.uid, group.content, slug=slug_of(group.content), at=first.at, **about)
    stored = rows.by_uid(connection, group.uid)
    own = rows.by_text(connection, group.content)  # what somebody stored in the very same words
    known = stored or (own if own and own.insight.source != HARVEST_SOURCE else twin)
    if _is_kept_out(context, connection, group, known):
        answer["kept_out"] += 1
        return
    if known is None:
        answer["added"].append(group.name)
    else:
        answer["known" if stored else "taken_in"] += 1
    uid = known.insight.uid if known else group.uid
    links = [
        new_link(uid, bond, at=one.at, node=(node.type, node.text), episode=node.episode, origin="extraction")
        for one in group
        for bond, node in one.bonds
    ]
    answer["links"] += sum(find_link(connection, link.id) is None for link in links)
    if answer["dry_run"]:
        return
    if known is None:
        insight = Insight(
            uid=group.uid,
            slug=group.name,
            content=group.content,
            created_at=first.at,
            tags=tuple(sorted((DERIVED, first.kind))),
            origin="derived",
            initial=context.settings.derived,
            episode=first.episode,
            source=HARVEST_SOURCE,
        )
        rows.set_vector(connection, rows.insert(connection, insight, name=group.name), vector)
    elif stored is not None:
        _say_anew(connection, stored, group, vector)
    for link in links:
        write_link(connection, link)


def _is_kept_out(
    context: InsightContext, connection: sqlite3.Connection, group: HarvestGroup, known: StoredInsight | None
) -> bool:
    """Whether somebody rejected or forgot what is to be taken in, or it is too short."""
    if known:
        return rows.standing_for(connection, known).insight.state == "rejected"
    forgotten = connection.execute("SELECT 1 FROM insight_forgotten WHERE uid = ?", (group.uid,)).fetchone()
    is_forgotten = forgotten or digest(f"insight {group.uid}") in forgotten_elsewhere(context.path.parent)
    return bool(is_forgotten) or content_length(group.content) < SHORTEST_CONTENT


def grouped(episodes: Iterable[Episode]) -> list[HarvestGroup]:
    """What episodes teach, all that is the same together, in an order that does not depend on theirs."""
    found = (one for episode in episodes for one in lessons_of(episode))
    clean = (replace(one, content=clean_content(one.content)) for one in found)
    ordered = sorted(clean, key=lambda one: (one.key, one.place))
    return [HarvestGroup(group) for _, group in groupby(ordered, key=lambda one: one.key)]


def _say_anew(
    connection: sqlite3.Connection, stored: StoredInsight, group: HarvestGroup, vector: TextVector | None
) -> None:
    """The words of all episodes that teach it count, unless a person has given others."""
    insight, first = stored.insight, group[0]
    later = (first.at or "9", first.episode) > _place_of(insight)
    if insight.origin != "derived" or insight.edited_at or (later and group[0].recipe is None):
        return
    new = replace(insight, content=group.content, created_at=first.at, episode=first.episode)
    if new != insight:
        rows.update(connection, stored, new)
        rows.set_vector(connection, stored.number, vector)


def _with_earlier(context: InsightContext, group: HarvestGroup) -> HarvestGroup:
    """The group with what other episodes taught of the same issue, as the links of its insight name them."""
    if group[0].recipe is None:
        return group
    with context.database.reading() as connection:
        linked = {link.episode for link in links_of(connection, [group.uid])}
    mine = {one.episode for one in group}
    # Older versions took the random name of an episode for a secret and cut it.
    named = sorted(one for one in linked - mine if one.startswith(PREFIX))
    episodes = map(context.required_history.episodes.get, named)
    others = (one for each in grouped(found for found in episodes if found) for one in each if each.uid == group.uid)
    return HarvestGroup(sorted([*group, *others], key=lambda one: one.place))


def _place_of(insight: Insight) -> tuple[str, str]:
    return insight.created_at or "9", insight.episode


def _harvested_lessons(connection: sqlite3.Connection) -> list[StoredInsight]:
    """Those that harvesting may merge: nobody has told, edited or silenced them, or merged them otherwise."""
    found = rows.where(connection, "source = ? AND origin = 'derived' AND edited_at = ''", HARVEST_SOURCE)
    lessons = [one for one in found if LESSON in one.insight.tags and one.insight.state in {"active", "merged"}]
    uids = {one.insight.uid for one in lessons}
    ours = [one for one in lessons if one.insight.state == "active" or one.insight.merged_into in uids]
    return sorted(ours, key=lambda one: (*_place_of(one.insight), one.insight.uid))
