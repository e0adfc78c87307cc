"""The words that are typed: for each scene, in this order, on a fresh copy of a memory.

``{names}`` stand for what the memory has, see ``Subject``. What follows `` <<< `` is the standard input.
"""

from __future__ import annotations

import json
from typing import NamedTuple


class Subject(NamedTuple):
    """What a memory has that commands can ask for."""

    name: str
    success: str
    failure: str
    label: str
    cause: str
    decision: str
    error: str
    words: str
    since: str
    until: str


DEMO = Subject(
    name="demo",
    success="c8f79823-e3b2-5fc7-9af2-5ffa863ea980",
    failure="f578cbf5-f364-5f2d-a047-4ecea264db5d",
    label="pytest fails: AssertionError",
    cause="ruff fails: E501",
    decision="edit source (.py)",
    error="E   ModuleNotFoundError: No module named 'httpx'",
    words="which fixture should the test take",
    since="2026-09-09",
    until="2026-09-12",
)
SESSIONS = Subject(
    name="sessions",
    success="da15b15f-a573-4523-abcb-fdd6c9a4e2a2",
    failure="1ecba475-5b18-4058-a0cb-e87703f6f792",
    label="go test fails: test failed",
    cause="golangci-lint fails",
    decision="edit source (.go)",
    error="CONFLICT (content): Merge conflict in cmd/entire/cli/session/state.go",
    words="redact secrets before they are written",
    since="2026-02-03",
    until="2026-02-08",
)

READING = """
status
seen
seen --limit 2
seen "{error}"
seen "{error}" --limit 1
seen - <<< {error}
seen - <<<
seen "zorble: cannot frob the quux"
path --from "{cause}" --to success
path --from "{label}" --to success --max-depth 3
path --from "{label}" --to success --strongest
path --from "{label}" --to success --alternatives 3
path --from "{label}" --to failure
path --from success --to "{cause}"
path --from "no such label" --to success
path --from "{label}" --to success --max-depth 0
causes "{label}"
causes success
causes "no such label"
effects "{label}"
effects "{decision}"
effects fails
patterns
patterns --min-success-rate 0.8 --min-occurrences 2
patterns --min-success-rate 2
anti-patterns
anti-patterns --max-success-rate 0.6
anti-patterns --max-success-rate 0.6 --evidence associated
explain {success}
explain {failure}
explain {failure} --steps
explain {success} --steps
explain nobody
contrast {success}
contrast {failure}
contrast nobody
without "{decision}"
without "no such label"
similar "{words}"
similar "{words}" --limit 2
similar " "
comparisons
claims
claims --status asserted
repeats
placebo
placebo --rounds 20
episode list
episode list --outcome failure
episode list --since {since}
episode list --task test --max-results 2
episode list --max-results 101
episode show {success}
episode show {failure}
episode show {failure} --evidence
episode show nobody
episode decisions {success}
episode decisions {failure}
episode sources
episode sources --project any
graph export --format json
graph export --format dot
graph export --format mermaid
graph export --format graphml
graph export --format dot --focus "{label}"
graph export --format mermaid --from "{label}" --to success
graph export --format json --episode {failure}
graph export --format dot --episode {failure}
graph export --format dot --max-nodes 10
graph export --format pdf
search "{words}"
search "{words}" --max-results 2 --lexical-only
search "{words}" --semantic-only
search "{error}"
search --status
search
insight health
insight recall "{words}"
topic brief
topic topics
topic search nothing
plan load
plan status
exploration load
doctor
model status
model install --dry-run
compile --dry-run
forget --session {failure} --dry-run
forget --until {until} --dry-run
forget --project shop --dry-run
setup claude-code --check
setup claude-code --dry-run
setup claude-code --print
setup codex --print
setup cursor --print
setup copilot --print
setup gemini --print
setup opencode --print
setup nobody
no-such-command
status --no-such-option
--version
"""

#: Scenes that write; each begins with a fresh copy of the memory.
WRITING: dict[str, str] = {
    "episodes": """
init
episode extract {logs}
episode extract {logs} -v
episode extract {logs} --force
episode extract {logs} --strict
episode extract {logs} --output out
episode extract {logs} --format codex
episode extract damaged.jsonl nothing.jsonl
episode extract damaged.jsonl --strict
episode extract --all --dry-run
episode extract --all
compile
compile
compile .helix/episodes/episode-{failure}.json
compile --since {since}
episode new --session 2026-01-01-session-126 --task "Try it" --outcome success --lesson "Two is more" --data data.json
episode new --session 2026-01-01-session-126 --task "Try it" --outcome success
episode new --session 2026-01-01-session-126 --task "Once more" --outcome partial --force
episode outcome {success} --failure --because "CI was red"
episode outcome {success} --because x
episode outcome nobody --failure --because x
episode correct {success} --decision d001 --rationale "it is faster"
episode correct {success} --decision d001 --chosen "another way" --type design --outcome failure
episode correct {success} --link e001 e002 --type enables
episode correct {success} --link e001 e002 --withdraw
episode correct {success} --decision d002 --withdraw
episode correct {success}
episode show {success}
episode decisions {success}
episode list
compile
status
explain {success}
init --share
doctor
""",
    "assertions": """
node add --type event --label deploy --episode {success}
node add --type error --label "the deploy fails"
node add --type milestone --label x
edge add --source deploy --target "the deploy fails" --type causes --weight 0.9
edge add --source x --target y --type causes
edge add --source deploy --target success --type leads
pattern add --name canary --trigger "{label}" --action "deploy to one machine first" --success-rate 0.5
pattern add --name bare --trigger t --action a --description "what it is"
pattern add --name canary --trigger t --action T
compile
patterns
anti-patterns --max-success-rate 0.6
path --from deploy --to "the deploy fails"
effects deploy
causes "the deploy fails"
claims
status
graph export --format json --focus deploy
graph export --format mermaid --focus deploy
doctor
""",
    "insights": """
insight store --content "When pytest hangs in CI, run it with -x and a timeout" --tags '["ci"]'
insight store --content "When pytest hangs in CI, run it with -x and a timeout of ten seconds" --tags '["ci", "pytest"]'
insight store --content "Delete the lock file before you build the image anew" --tags '["docker"]'
insight store --content "Of tags that are no list" --tags docker
insight store --content "When {label} occurs, look at the fixture before the code" --tags '["user-provided"]'
insight store --content "When the API times out, ask it again with a smaller page" --tags '["user-provided"]'
insight store --content " "
insight store --content "When logged verbosely, read stderr" --verbose
insight recall "pytest hangs in CI"
insight recall "pytest hangs" --limit 1 --min-relevance 0.1
insight recall "image build" --min-effectiveness 0.6
insight recall "pytest hangs" --suppress-names '["{pytest}"]'
insight recall "{words}" --lexical
insight recall "pytest hangs" --policy none-such
insight get {pytest}
insight get nobody
insight feedback --names '["{pytest}"]' --outcome delivered --id one
insight feedback --names '["{pytest}"]' --outcome delivered --id one
insight feedback --names '["{pytest}", "{lock}"]' --outcome blocked --causal-names '["{lock}"]' --id two --explain
insight feedback --names '["{lock}"]' --episode {failure} --id three --explain
insight feedback --names '["{lock}"]' --outcome-text "The lock file was deleted, the image builds" --outcome delivered
insight feedback --names '["{pytest}"]' --outcome glorious
insight health
insight relate {pytest} {lock} --weight 0.8
insight relate {pytest} {lock} --rel-type causes
insight relate {pytest} nobody
insight neighbors {pytest}
insight connected {pytest} --max-hops 2
insight link {pytest} --node-type error --text "{label}"
insight link {pytest} --node-type episode --episode {failure} --relation derived_from
insight match {lock}
insight match
insight why {pytest}
insight why {lock}
insight harvest --dry-run
insight harvest --episode {failure}
insight harvest --since {since}
insight harvest
insight recall "{error}"
insight health
insight uplift
insight chunk --task-objective "Build the cart" --outcome "success: built" --approach "Begin with the test"
insight chunk --task-objective "Build the cart" --outcome "failed" --approach "Begin with the test"
insight consolidate --threshold 0.5
insight reindex
insight edit {lock} --content "Delete the lock file and the cache before you build anew" --tags '["docker", "cache"]'
insight get {lock}
insight mute {lock}
insight recall "lock file"
insight mute {lock} --off
insight reject {pytest} --reason "CI is faster now"
insight why {pytest}
insight reject {pytest} --off
insight promote {pytest}
insight promote {pytest} --anyway
insight promote {pytest} --anyway --write
insight promote {pytest} --anyway --write --file AGENTS.md
insight export
insight export --output insights.json
insight import insights.json
insight import nothing.json
insight decay --days 1
insight prune --threshold 0.9 --min-uses 0
insight prune --threshold 0.4 --min-uses 1 --yes
insight forget {lock}
insight forget nobody
insight rebuild
insight health
search "pytest hangs"
seen "{error}"
status
doctor
""",
    "topics": """
topic store "Build Gotchas" "arm64 only for FFI bridge" --tags gotchas
topic store build-gotchas "arm64 only for FFI bridge"
topic store build-gotchas "arm64 only for FFI bridge" --force
topic store engine "CachedEntry holds tf_map" --tags performance --source src/cache.py:2 --links build-gotchas:0
topic store sure "Quite sure of it" --confidence 0.9
topic store engine "short" --terse
topic store engine - <<< from stdin: the engine starts cold
topic store engine " "
topic batch entries.json
topic batch - <<< [{{"topic": "network", "text": "Max 8 connections per pool", "confidence": "0.5"}}]
topic batch broken.json
topic search "FFI bridge"
topic search "arm64 cached" --mode or --detail count --limit 0
topic search "engine" --detail full
topic search "engine" --detail topics
topic search "engine" --detail grouped
topic search "engine" --tag performance --topic engine --days 2
topic search "xyz" --tag none-such
topic search "engine" --after today
topic search "engine" --before 2020-01-01
topic brief engine
topic brief "build*" --detail scan --since 24 --focus gotchas
topic brief --compact
topic brief engine --detail full
topic brief
topic read build-gotchas
topic read build-gotchas --index 0
topic read none
topic edit append engine --text "and more" --index 0
topic edit revise engine --text "all anew" --match-str short
topic edit tag engine --tags gap --index 0
topic edit tag engine --remove performance --index 0
topic edit delete build-gotchas --index 1
topic edit rename network --new-name net
topic edit merge net --into engine
topic edit delete none --all
topic edit paint engine
topic topics
topic topics list
topic topics recent --hours 24
topic topics recent --days 3
topic topics entries --topic engine --match-str pool
topic topics entries --topic engine --index 0
topic topics stats
topic topics stats --detail tags
topic topics stats --detail index
topic topics xref --topic engine
topic topics graph --focus "eng*"
topic topics graph
topic topics stale
topic topics stale --refresh
topic topics prune --days 90
topic topics prune --days 90 --apply
topic topics export
topic topics import --file entries.json
topic topics import --file entries.json --force
topic topics reindex
topic topics compact
topic topics session
topic topics dance
topic store pager "The global one pages" --global
topic brief --global
topic topics --global
search "FFI bridge"
search engine --max-results 2
topic edit delete engine --all
topic topics
doctor
""",
    "plans": """
insight store --content "When the cart is built, limit what it holds" --tags '["failure"]'
insight store --content "When the till is built, count twice" --tags '["pattern"]'
exploration save explored.json
exploration save - --objective "Sell socks" <<< {{"targets": ["sock.py"]}}
exploration save broken.json
exploration load
plan save plan.json
plan save circle.json
plan save broken.json
plan load
plan load --plan 7
plan ready
plan waves
plan status
workspace create 001 --session s
workspace create 002
workspace create 003
workspace create --data task.json
workspace create
workspace get 1
workspace get 9
workspace prompt 1
workspace prompt 3
workspace check 1
workspace check 1 --calls 99
workspace check 1 --transcript {logs}/{demo}.jsonl
workspace complete 1 --delivered "a cart" --utilized '["when-the-cart-is-built-limit-what-it-holds"]' --verified
workspace complete 1 --delivered "a cart"
workspace block 2 --reason "the printer is gone"
workspace complete 9 --delivered x
plan status
plan ready
plan update 002 --status pending
plan update 003 --status blocked --reason "no till"
plan update 002 --delivered "a till" --status complete --utilized '[]'
plan update 009 --status complete
assess "Build the cart" --approach "push on"
assess "Build the cart" --approach "push on"
assess "Build the cart" --approach "another way"
inject "build the cart" --task-id t1 --session s
inject "build the cart" --session s --repeat
inject "build the cart" --session t --limit 1 --min-relevance 0.2
inject " "
batch-inject "build the cart" "build the till" --session u --reset --task-ids a,b
learn {logs}/{demo}.jsonl --agent-id b1
learn built.jsonl --agent-id b2
learn explored.jsonl --agent-type explorer --agent-id e1
learn none.jsonl
wait builders --task-ids 001-w1,t1 --timeout 0
wait builders --task-ids 9 --timeout 0
wait builders --task-ids 9 --timeout 0 --strict
wait explorers --count 1 --timeout 0
wait explorers --count 2 --timeout 0 --strict --agent-ids e1,e2
wait explorers --count 0
plan status
plan complete
plan load
exploration clear
exploration load
insight health
insight recall "till"
search cart
status
""",
    "plugins": """
setup claude-code --dry-run
setup claude-code
setup claude-code --check
setup claude-code
setup claude-code --remove --dry-run
setup claude-code --remove
setup claude-code --scope project
setup claude-code --scope project --check
setup claude-code --scope project --remove
setup codex
setup codex --check
setup codex --scope project
setup codex --scope project --remove
setup codex --remove
setup cursor
plugin export plugin
plugin export plugin
plugin export .
""",
    "forgetting": """
insight harvest
forget --session {failure} --dry-run
forget --session {failure}
forget --session {failure}
forget --session nobody
forget
forget --until {until}
episode list --max-results 3
status
patterns
episode show {failure}
episode extract {logs}
compile
doctor
doctor --fix
off
off
status
on
on
forget --project shop
status
""",
    "damage": """
doctor
doctor --fix
doctor
status
seen "{error}"
compile
doctor
""",
    "nothing": """
status
seen
seen "{error}"
patterns
explain {failure}
view
report
doctor
compile
insight recall cart
topic brief
plan load
search cart
episode list
off
init
status
seen "{error}"
patterns
path --from a --to b
explain {failure}
view
report
doctor
compile
insight recall cart
topic brief
plan load
search cart
episode list
demo
demo --keep kept
demo --keep kept
""",
    "pages": """
view --output page.html
view --output focus.html --focus "{label}"
view --output path.html --from "{label}" --to success
view --output episode.html --episode {failure}
view --output small.html --max-nodes 5
view --output none.html --focus "no such label"
view
explain {failure} --html failure.html
explain {success} --html success.html
contrast {failure} --html contrast.html
report
report --output folder
report --output week.html --days 14
report --output until.html --days 7 --until {until}
report --format markdown
report --format markdown --output week.md --days 30
report --format json
report --format json --output week.json --days 366
report --days 0
graph export --format dot --output graph.dot
graph export --format mermaid --output graph.mmd
graph export --format graphml --output graph.graphml
graph export --format json --output graph.json
graph export --format mermaid --output focus.mmd --focus "{label}" --max-nodes 12
""",
}

#: These scenes need no copy of the memory.
WITHOUT_MEMORY = {"nothing"}
#: What a folder holds afterwards is compared too, for these.
PLAN = {
    "objective": "Sell shoes",
    "framework": "fastapi",
    "idioms": {"required": ["Use Depends() for auth"], "forbidden": ["Store passwords in plain text"]},
    "tasks": [
        {"seq": "001", "slug": "cart", "objective": "Build the cart", "delta": ["shop/cart.py"], "verify": "pytest -q"},
        {"seq": "002", "slug": "till", "objective": "Build the till", "delta": ["shop/till"], "depends": "none"},
        {"seq": "003", "slug": "shop", "objective": "Open the shop", "depends": "001, 002", "budget": 5},
    ],
}
_DECISIONS = [{"id": "d001", "timestamp": None, "type": "design", "chosen": "Serena first"}]


def _transcript(prompt: str, said: str) -> str:
    """A short log in the form of Claude Code."""
    head: dict[str, object] = {"sessionId": "agent-log", "cwd": "/home/u/shop", "version": "1.0.0"}
    lines: list[dict[str, object]] = [
        {"type": "user", "uuid": "u1", "parentUuid": None, "message": {"role": "user", "content": prompt}},
        {
            "type": "assistant",
            "uuid": "u2",
            "parentUuid": "u1",
            "message": {"id": "m1", "role": "assistant", "content": [{"type": "text", "text": said}]},
        },
    ]
    times: list[dict[str, object]] = [{"timestamp": f"2026-01-01T00:0{minute}:00.000Z"} for minute in range(len(lines))]
    return "".join(f"{json.dumps(head | line | time)}\n" for line, time in zip(lines, times, strict=True))


#: Files that stand in a project when a scene begins.
FILES = {
    "data.json": json.dumps({"decisions": _DECISIONS, "lessons": ["one"], "metrics": {"tool_calls": 3}}),
    "entries.json": json.dumps(
        [{"topic": "engine", "text": "gap: no retry", "tags": ["gap"]}, {"topic": "x", "text": "y"}]
    ),
    "broken.json": "[1, ",
    "plan.json": json.dumps(PLAN),
    "task.json": json.dumps({"objective": "Sweep the shop", "delta": ["broom.py"], "budget": 3}),
    "circle.json": json.dumps({"objective": "x", "tasks": [{"seq": "a", "objective": "a", "depends": "a"}]}),
    "explored.json": json.dumps({"objective": "Sell shoes", "targets": ["cart.py"]}),
    "src/cache.py": "class CachedEntry:\n    tf_map = {}\n",
    "built.jsonl": _transcript(
        "TASK_ID: t1\nTASK: cart",
        'INSIGHT: {"content": "When a cart is full, say so before the till", "tags": ["pattern"]}\nDELIVERED: a cart',
    ),
    "explored.jsonl": _transcript("TASK_ID: e1\nExplore", '{"status": "success", "findings": [{"file": "cart.py"}]}'),
    "damaged.jsonl": _transcript("Try it", "Done.") + '{"type": "assistant", "broken\n{"type": "novelty"}\n',
}
#: Names that insights get from their texts.
NAMES = {
    "pytest": "when-pytest-hangs-in-ci-run-it-with-x-and-a-time",
    "lock": "delete-the-lock-file-before-you-build-the-image-an",
}
