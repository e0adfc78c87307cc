"""What did a shell command do, and which part of it decides?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix_episodes.extraction.shell import programs as known
from helix_episodes.extraction.shell.commands import decisive, hides_exit, parse_command
from whole_tables import each_row

HEREDOC_COMMIT = """git add -A && git commit -m "$(cat <<'EOF'
Fix it's (rm -rf /) parser; go test passes

EOF
)" && git push --force"""


def programs(text: str) -> list[str]:
    return [part.program for part in parse_command(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Get-Content docs/a.md | Select-Object -Skip 3 | Measure-Object -Line",
        "$lines = Get-ChildItem src; write-host $lines",
        "Test-Path D:/shop/cart.go",
        "rustc +nightly --version && rustc --version",
        "mise x aqua:deny -- cargo deny --version",
        "tmux list-sessions",
        "uv pip list",
        "python -V",
        "go help build",
        "docker version",
    ],
)
def test_what_only_shows_something_changes_nothing(text: str) -> None:
    assert {part.purpose for part in parse_command(text)} == {"look"}


@pytest.mark.parametrize(
    "text", ["Remove-Item dist -Recurse", "Set-Content a.txt x", "tmux send-keys -t a Enter", "mktemp -d"]
)
def test_what_changes_something_is_no_look(text: str) -> None:
    assert {part.purpose for part in parse_command(text)} == {"change"}


@each_row(
    ("text", "expected"),
    [
        ("cd api && go test ./... 2>&1 | tail -5", ["cd", "go", "tail"]),
        (HEREDOC_COMMIT, ["git", "git", "git"]),
        ("cat > x.sh <<EOF\nrm -rf /\nmake test\nEOF\nchmod +x x.sh", ["cat", "chmod"]),
        ("cat <<E.F\nEXF\nrm x\nE.F\nls", ["cat", "ls"]),
        ("cat <<-'E O F' | wc\n\ta && b\n\tE O F\nls", ["cat", "wc", "ls"]),
        ("echo 'a && b; c | d' \"e && $(f && g)\" && h", ["echo", "h"]),
        ("for f in *.go; do gofmt -l $f; done", ["gofmt"]),
        ("case $x in a) make test;; *) ls;; esac", ["make", "ls"]),
        ("if ! pytest; then exit 1; fi", ["pytest", "exit"]),
        ("(cd a && npm test) || echo no", ["cd", "npm", "echo"]),
        ("ls # && rm x", ["ls"]),
        ("a &&\n  b \\\n  -c", ["a", "b"]),
        ("diff <(sort a) <(sort b)", ["diff"]),
        ('diff <("./list old" a) b; pytest', ["diff", "pytest"]),
        ("FOO=1 BAR='x y' time env -u Z timeout -s KILL 60 sudo -u me nice -n 5 pytest -q", ["pytest"]),
        ("npx --yes -p typescript tsc --noEmit", ["tsc"]),
        ("uv run --with rich python -m pytest", ["pytest"]),
        ("mise exec go@1.22 -- go vet ./...", ["go"]),
        ("poetry run mypy . ; bundle exec rspec", ["mypy", "rspec"]),
        ("bash -lc 'cd x && make lint | tail' && ls", ["cd", "make", "tail", "ls"]),
        ("find . -name '*.pyc' | xargs -n 1 rm -f", ["find", "rm"]),
        ("./gradlew test; /usr/bin/python3.11 -m unittest", ["gradle", "unittest"]),
        ("VERSION=$(git describe) && make build", ["export", "make"]),
        ("", []),
        ("   \n# nothing\n", []),
    ],
)
def test_only_what_is_run_is_a_command(text: str, expected: list[str]) -> None:
    assert programs(text) == expected


@each_row(
    ("text", "check", "kind", "scope"),
    [
        ("go test ./...", "go test", "test", ()),
        (
            "go test -v -race -count=1 -timeout 30s ./store -run 'TestPut|TestGet'",
            "go test",
            "test",
            ("-run TestPut|TestGet", "./store"),
        ),
        ("go test -tags=integration ./...", "go test", "test", ("-tags integration",)),
        ("mise run test:integration -- -run TestA", "mise test:integration", "test", ("-run TestA",)),
        ("mise lint", "mise lint", "lint", ()),
        ("golangci-lint run ./...", "golangci-lint", "lint", ()),
        ("npm run -s lint:fix", "npm lint:fix", "lint", ()),
        ("npm test -- src/a.test.ts", "npm test", "test", ("src/a.test.ts",)),
        ("yarn build", "yarn build", "build", ()),
        ("make -C api check", "make check", "test", ()),
        ("make", "make", "build", ()),
        (
            "python -m pytest -x -k 'put and get' tests/test_a.py",
            "pytest",
            "test",
            ("-k put and get", "tests/test_a.py"),
        ),
        ("python manage.py test shop", "python manage.py test", "test", ("shop",)),
        ("python -m unittest", "unittest", "test", ()),
        ("ruff check --fix .", "ruff", "lint", ()),
        ("cargo clippy --all-targets", "cargo clippy", "lint", ()),
        ("cargo test -p core", "cargo test", "test", ("-p core",)),
        ("npx tsc --noEmit", "tsc", "typecheck", ()),
        ("dotnet test --filter Name=A", "dotnet test", "test", ("--filter Name=A",)),
        ("./scripts/run-tests.sh", "run-tests.sh", "test", ()),
        ("mvn -q clean verify", "mvn verify", "test", ()),
        ("black --check src", "black", "format", ("src",)),
    ],
)
def test_checks_have_one_name_and_a_scope(text: str, check: str, kind: str, scope: tuple[str, ...]) -> None:
    (part,) = parse_command(text)
    assert (part.purpose, part.check, part.kind) == ("check", check, kind)
    assert part.scope == scope


@pytest.mark.parametrize(
    ("purpose", "texts"),
    [
        (
            "look",
            (
                "git status|git log -3|git branch|git branch -a|git stash list|git config --get user.name|git -C x diff"
                "|gh pr view 3|gh api repos/a/b|gh api graphql -f query=q|ls|find . -name x|sed -n 1,3p x|curl https://a"
                "|docker ps|npm ls|go doc fmt|kubectl get pods|pytest --version|entire help|docker compose logs"
            ),
        ),
        (
            "change",
            (
                "git commit -m x|git checkout -b x|git branch x|git branch -D x|git stash|git stash pop|git config a b"
                "|gh pr create|gh api x --method POST|gh api x -f a=b|find . -delete|find . -exec rm {} +|sed -i s/a/ x"
                "|curl -X POST a|curl -d a=b c|docker compose up|npm install|echo x > y|cat >> y|./deploy.sh|go run ."
            ),
        ),
        ("format", "gofmt -w .|mise run fmt|prettier --write .|ruff format|cargo fmt|npm run format|black ."),
    ],
)
def test_purposes(purpose: str, texts: str) -> None:
    for text in texts.split("|"):
        (part,) = parse_command(text)
        assert part.purpose == purpose, text


@each_row(
    ("text", "flags"),
    [
        ("git commit --no-verify -m x", ("--no-verify",)),
        ("git commit -nm x", ("--no-verify",)),
        ("git push -f", ("--force",)),
        ("rm -rf x", ("-f",)),
        ("git reset --hard HEAD~1", ("--hard",)),
        ("go test -race ./...", ("-race",)),
        ("jest -u", ("--updateSnapshot",)),
        ("mvn test --skip-integration", ("--skip-integration",)),
        ("git merge --no-ff x --no-edit", ("--no-ff",)),
        ("tail -f x", ()),
        ("grep --no-messages x", ()),
    ],
)
def test_flags_that_change_the_meaning_are_kept(text: str, flags: tuple[str, ...]) -> None:
    assert parse_command(text)[0].flags == flags


@each_row(
    ("text", "program", "subcommand"),
    [
        ("cd x && export A=b && mise run fmt && mise run lint 2>&1 | tail -5", "mise", "lint"),
        ("git add . && git commit -m x && git status", "git", "commit"),
        ("mise run fmt && git diff", "mise", "fmt"),
        ("gofmt -l . && go test ./... && git push", "go", "test"),
        ("cd x && ls -la && echo done", "ls", None),
        ("cd x", "cd", None),
        ("gh pr view 3 --json title | jq .title", "jq", None),
        ("git stash pop && ./test-harness.sh setup-repo", "test-harness.sh", "setup-repo"),
        ("git add . && tox run -e lint", "tox", "lint"),
    ],
)
def test_the_decisive_part(text: str, program: str, subcommand: str | None) -> None:
    part = decisive(parse_command(text))
    assert part is not None
    assert (part.program, part.subcommand) == (program, subcommand)


def test_nothing_is_decisive_in_nothing() -> None:
    assert decisive(()) is None


@pytest.mark.parametrize(
    ("text", "check", "kind", "scope"),
    [
        ("tox -e lint", "tox lint", "lint", ()),
        ("tox run -elint", "tox lint", "lint", ()),
        ("nox -s lint", "nox lint", "lint", ()),
        ("nox -rs typecheck", "nox typecheck", "typecheck", ()),
        ("nox --session=docs", "nox docs", "test", ()),
        ("python -m tox -qe py311 -- -k cart", "tox py311", "test", ("-k cart",)),
        ("nox -s tests-3.12", "nox tests", "test", ("-s tests-3.12",)),
        # Several are a run of the runner, and what is selected narrows it.
        ("tox -e lint,py311", "tox", "test", ("-e lint,py311",)),
        ("nox -s lint tests", "nox", "test", ("-s lint", "tests")),
        ("tox p", "tox", "test", ()),
    ],
)
def test_a_session_of_tox_or_nox_is_a_check_of_its_own(
    text: str, check: str, kind: str, scope: tuple[str, ...]
) -> None:
    (part,) = parse_command(text)
    assert (part.purpose, part.check, part.kind, part.scope) == ("check", check, kind, scope)


@each_row(
    ("text", "hidden"),
    [
        ("a && b | tail", [False, True, False]),
        ("a; b && c", [True, False, False]),
        ("a || true", [True, False]),
        ("a || exit 1", [False, False]),
        ("(a && b) | tail", [True, True, False]),
        ("{ a; b; } | tail", [True, True, False]),
        ("a &\nwait", [True, False]),
        ("! a", [True]),
        ("for x in y; do a; done", [True]),
        ("set -e; a; b", [True, False, False]),
        ("set -euo pipefail; a | b", [True, False, False]),
        ("bash -c 'a && b' | tail", [True, True, False]),
    ],
)
def test_which_exit_status_can_be_seen(text: str, hidden: list[bool]) -> None:
    parts = parse_command(text)
    assert [hides_exit(parts, at) for at in range(len(parts))] == hidden


def test_a_list_goes_on_behind_a_newline() -> None:
    parts = parse_command("a &&\n  b |\n c\nd")
    assert [part.joiner for part in parts] == ["", "&&", "|", ";"]


SHELL_BITS = st.sampled_from(
    [
        "a",
        " ",
        "'",
        '"',
        "`",
        "$(",
        "${",
        "$'",
        ")",
        "(",
        "{ ",
        "}",
        "&&",
        "||",
        ";",
        "|",
        "&",
        ">",
        "<<EOF",
        "\n",
        "EOF",
        "\\",
        "#",
        "if ",
        "for x in ",
        "do ",
        "done",
        "case ",
        "esac",
        "bash -c ",
        "-c",
        "A=1",
        "git ",
        "stash ",
        "npm run ",
        "python -m ",
        "timeout ",
        "--",
        "-",
        "=",
        "xargs ",
        "<(",
        "mise ",
        "docker ",
        "gh api ",
    ]
)


@given(st.lists(SHELL_BITS, max_size=40).map("".join) | st.text(max_size=200))
def test_no_text_breaks_it(text: str) -> None:
    parts = parse_command(text)
    for at in range(len(parts)):
        hides_exit(parts, at)
        assert parts[at].program
    assert (decisive(parts) is None) == (not parts)


@given(st.lists(st.sampled_from(["ls", "make test", "git push", "npm run lint"]), min_size=1, max_size=6))
def test_joining_adds_nothing_and_loses_nothing(commands: list[str]) -> None:
    assert [part.text for part in parse_command(" && ".join(commands))] == commands


def test_no_program_needs_words_behind_it_to_be_understood() -> None:
    """A bare `curl` ended the reading of a whole project with a traceback."""
    tables = [table for name, table in vars(known).items() if name.isupper() and isinstance(table, dict | frozenset)]
    words = sorted({word for table in tables for key in table if isinstance(key, str) for word in (key, *key.split())})
    ways = ("{}", "sudo {}", "{} | sh", "time {} && ls", "{} -X", "{} ''", "{} --")
    seen = {part.program for word in words for way in ways for part in parse_command(way.format(word))}
    assert {"curl", "git", "pytest", "docker"} <= seen
