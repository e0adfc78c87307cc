"""Do shared things say the same whatever order and grouping they are joined in, and does any secret get past?"""

from __future__ import annotations

import json
import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helix_graph.sharing.records import (
    Forgotten,
    SharedEntry,
    SharedFeedback,
    SharedInsight,
    SharedRecord,
    decode,
    digest,
    encode,
    find_secrets,
    join,
    name_of,
)
from thoroughness import examples

DAYS = st.integers(1, 28).map(lambda day: f"2026-03-{day:02}T09:00:00.000000Z")
UIDS = st.integers(0, 5).map(lambda number: f"{number:016x}")
insights = st.builds(
    SharedInsight,
    uid=UIDS,
    slug=st.sampled_from(["retry", "pin"]),
    content=st.text(min_size=1, max_size=30),
    created_at=DAYS,
    edited_at=st.one_of(st.just(""), DAYS),
    tags=st.lists(st.sampled_from("abc"), max_size=2).map(lambda tags: tuple(sorted(set(tags)))),
    state=st.sampled_from(["active", "muted"]),
    state_at=st.one_of(st.just(""), DAYS),
)
entries = st.builds(SharedEntry, topic=st.sampled_from(["rates", "ci"]), text=st.text(min_size=1), stored=DAYS)
#: One feedback has one time and one outcome; each record of it names the insights that were shared by then.
outcomes = st.builds(
    lambda feedback, helped, present: SharedFeedback(**feedback, session="s", helped=helped, present=present),
    st.sampled_from(
        [
            {"id": "f1", "ts": "2026-03-01T09:00:00.000000Z", "outcome": "delivered"},
            {"id": "f2", "ts": "2026-03-02T09:00:00.000000Z", "outcome": "blocked"},
            {"id": "f3", "ts": "2026-03-02T09:00:00.000000Z", "outcome": "delivered"},
        ]
    ),
    st.lists(UIDS, max_size=2).map(tuple),
    st.lists(UIDS, max_size=2).map(tuple),
)
forgotten = st.builds(Forgotten, of=UIDS) | entries.map(lambda one: Forgotten(of=digest(one)))
RECORDS = st.lists(insights | entries | outcomes | forgotten, max_size=12)


@settings(max_examples=examples(40), deadline=None)
@given(one=RECORDS, other=RECORDS, third=RECORDS)
def test_joining_is_associative_commutative_and_idempotent(
    one: list[SharedRecord], other: list[SharedRecord], third: list[SharedRecord]
) -> None:
    whole = join([*one, *other, *third])
    assert join([*third, *join([*other, *one])]) == whole
    assert join([*join([*one, *third]), *join([*other, *one])]) == whole
    assert join([*whole, *whole]) == whole


@settings(max_examples=examples(40), deadline=None)
@given(record=insights | entries | outcomes | forgotten)
def test_a_file_gives_its_record_back(record: SharedRecord) -> None:
    assert decode(encode(record)) == record
    assert name_of(record).endswith(f"{digest(record)}.json")


@pytest.mark.slow
def test_a_thousand_shares_in_any_order_and_grouping_are_one_memory() -> None:
    """300 insights with 300 newer edits, 200 entries, 150 outcomes and 50 tombstones, in five orders and groupings."""
    chance = random.Random(20261123)  # noqa: S311  (an order, no secret)
    records: list[SharedRecord] = []
    for number in range(300):
        first = SharedInsight(uid=f"{number:016x}", slug="s", content=f"advice {number}", created_at="2026-03-01")
        later = SharedInsight(
            uid=first.uid, slug="s", content=f"better {number}", created_at="2026-03-01", edited_at="2026-04-01"
        )
        records += [first, later]
    records += [SharedEntry(topic="t", text=f"entry {number}", stored="2026-03-01") for number in range(200)]
    records += [
        SharedFeedback(id=f"f{number}", ts="2026-03-02", outcome="delivered", session="s", helped=(f"{number:016x}",))
        for number in range(150)
    ]
    records += [Forgotten(of=f"{number:016x}") for number in range(50)]
    begun = time.process_time()
    made = set()
    joined: tuple[SharedRecord, ...] = ()
    for _ in range(5):
        chance.shuffle(records)
        joined = ()
        at = 0
        while at < len(records):
            size = chance.randrange(1, 400)
            joined = join([*joined, *join(records[at : at + size])])
            at += size
        made.add(b"".join(map(encode, joined)))
    assert len(made) == 1
    assert len(joined) == 250 + 200 + 100 + 50
    assert {one.content for one in joined if isinstance(one, SharedInsight)} == {f"better {n}" for n in range(50, 300)}
    assert time.process_time() - begun < 5 * 10  # seconds, ten for each order


@pytest.mark.parametrize(
    ("text", "kind"),
    [("ghp_" + "Zq3Vb8Xw2Rk6Tm9Yp4Ls7Nd1Hf5Jc0Ga9Ue" + "3", "github token"), ("AKIA" + "Q3EGRV7ZT5NPLMWB", "aws key")],
)
def test_a_secret_is_found_at_its_line(text: str, kind: str) -> None:
    record = SharedInsight(uid="0" * 16, slug="s", content=f'use "{text}"\nthere', created_at="2026-03-01")
    data = encode(record)
    (problem,) = find_secrets("shared/x.json", data)
    assert text in data.decode().splitlines()[problem.line - 1]
    assert kind in problem.problem
    assert str(problem).startswith(f"shared/x.json:{problem.line}: ")
    assert not list(
        find_secrets("x", encode(SharedInsight(uid="0" * 16, slug="s", content="advice", created_at="2026")))
    )


def test_an_entry_has_one_name_whoever_wrote_it_down() -> None:
    """Else its author would get back again and again what another program wrote without what is usual."""
    said = {"kind": "topic", "topic": "rates", "text": "The rates are in cents", "stored": "2026-11-01T00:00:00Z"}
    short, long = (decode(json.dumps(one).encode()) for one in (said, {**said, "confidence": 1.0}))
    assert name_of(short) == name_of(long)
    assert encode(short) == encode(long)
