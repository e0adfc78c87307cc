"""Tables of known programs: which ones check, format or only look, and which of their flags matter.

They are the closed vocabulary behind `helix_episodes.extraction.shell.commands`. A program in none of the tables is
taken to change something: a look mistaken for a change costs one label, a change mistaken for a look loses a cause.
``docs/explanation/checks.md`` shows the tables to users; add a row here and a line there.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Purpose = Literal["check", "format", "change", "look"]

    CheckKind = Literal["test", "lint", "build", "typecheck", "format"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BY_KIND: dict[CheckKind, frozenset[str]] = {
    "test": _words(
        "pytest nose2 tox nox jest vitest mocha ava karma rspec phpunit pest ctest bats gotestsum busted prove elm-test"
    ),
    "lint": _words(
        "flake8 pylint pycodestyle pydocstyle bandit lint-imports eslint oxlint stylelint standard xo rubocop "
        "phpstan psalm staticcheck revive gosec govulncheck shellcheck hadolint yamllint actionlint "
        "py_compile compileall markdownlint markdownlint-cli2 vale ktlint detekt swiftlint clang-tidy codespell "
        "vulture luacheck cspell commitlint typos ansible-lint phpcs"
    ),
    "typecheck": _words("mypy dmypy pyright basedpyright pyre pytype ty tsc vue-tsc svelte-check sorbet"),
    "build": _words("ninja gcc g++ clang clang++ rustc javac kotlinc msbuild xcodebuild webpack rollup tsup"),
}
#: Programs that check whatever their arguments say.
CHECKERS: dict[str, CheckKind] = {program: kind for kind, programs in _BY_KIND.items() for program in sorted(programs)}

#: First words with which a checker does something else: it fetches its rules, or shows its settings.
OTHER_ERRANDS: dict[str, dict[str, Purpose]] = {
    "vale": {"sync": "change", **dict.fromkeys(("ls-config", "ls-dirs", "ls-metrics", "ls-vars"), "look")},
}

#: Programs whose first word says whether they check. ``""`` means no word at all.
#: Options with which a test command only builds the tests.
ONLY_BUILDS = {"go": "-c", "cargo": "--no-run"}

CHECKING_SUBCOMMANDS: dict[str, dict[str, CheckKind]] = {
    "go": {"test": "test", "build": "build", "vet": "lint"},
    "golangci-lint": {"run": "lint", "": "lint"},
    "ruff": {"check": "lint", "": "lint"},
    "cargo": {
        "test": "test",
        "nextest": "test",
        "check": "typecheck",
        "clippy": "lint",
        "build": "build",
        "deny": "lint",
        "audit": "lint",
        "machete": "lint",
    },
    "dotnet": {"test": "test", "build": "build", "publish": "build"},
    "mvn": {"test": "test", "verify": "test", "compile": "build", "package": "build", "install": "build"},
    "gradle": {"test": "test", "check": "test", "build": "build", "assemble": "build", "lint": "lint"},
    "playwright": {"test": "test"},
    "cypress": {"run": "test"},
    "bun": {"test": "test", "build": "build"},
    "deno": {"test": "test", "lint": "lint", "check": "typecheck"},
    "biome": {"check": "lint", "lint": "lint", "ci": "lint"},
    "next": {"build": "build", "lint": "lint"},
    "vite": {"build": "build"},
    "ng": {"test": "test", "build": "build", "lint": "lint"},
    "swift": {"test": "test", "build": "build"},
    "bazel": {"test": "test", "build": "build"},
    "mix": {"test": "test", "compile": "build", "credo": "lint", "dialyzer": "typecheck"},
    "sbt": {"test": "test", "compile": "build"},
    "stack": {"test": "test", "build": "build"},
    "cabal": {"test": "test", "build": "build"},
    "zig": {"test": "test", "build": "build"},
    "flutter": {"test": "test", "analyze": "lint", "build": "build"},
    "dart": {"test": "test", "analyze": "lint"},
    "terraform": {"validate": "lint"},
    "helm": {"lint": "lint"},
    "goreleaser": {"check": "lint", "build": "build"},
    "pre-commit": {"run": "lint"},
    "buf": {"lint": "lint", "build": "build"},
    "astro": {"check": "typecheck", "build": "build"},
    "gleam": {"test": "test", "check": "typecheck", "build": "build"},
    "sqlfluff": {"lint": "lint"},
    "taplo": {"lint": "lint", "check": "lint"},
    "cmake": {"--build": "build"},
    "node": {"--test": "test"},
    "trunk": {"check": "lint"},
}

#: Interpreters, and the options with which they only parse a script.
SYNTAX_ONLY: dict[str, frozenset[str]] = {
    **dict.fromkeys(("bash", "sh", "zsh", "dash", "ksh"), frozenset({"-n"})),
    "node": frozenset({"--check", "-c"}),
    "php": frozenset({"-l"}),
    **dict.fromkeys(("ruby", "perl"), frozenset({"-c"})),
}
#: Programs that rewrite files in one style, and the flags with which they only report.
FORMATTERS: dict[str, frozenset[str]] = {
    "gofmt": frozenset({"-l", "-d"}),
    "gofumpt": frozenset({"-l", "-d"}),
    "goimports": frozenset({"-l", "-d"}),
    "prettier": frozenset({"--check", "-c", "--list-different", "-l"}),
    "black": frozenset({"--check", "--diff"}),
    "isort": frozenset({"--check", "--check-only", "-c", "--diff"}),
    "autopep8": frozenset({"--diff"}),
    "yapf": frozenset({"--diff", "-d"}),
    "rustfmt": frozenset({"--check"}),
    "clang-format": frozenset({"--dry-run", "-n"}),
    "shfmt": frozenset({"-d", "-l"}),
    "stylua": frozenset({"--check"}),
    "dprint": frozenset({"check"}),
    "swiftformat": frozenset({"--lint"}),
    "php-cs-fixer": frozenset({"--dry-run", "check"}),
}
#: The same for subcommands.
FORMATTING_SUBCOMMANDS: dict[str, dict[str, frozenset[str]]] = {
    "go": {"fmt": frozenset()},
    "golangci-lint": {"fmt": frozenset({"--diff", "-d"})},
    "ruff": {"format": frozenset({"--check", "--diff"})},
    "cargo": {"fmt": frozenset({"--check"})},
    "deno": {"fmt": frozenset({"--check"})},
    "biome": {"format": frozenset()},
    "dotnet": {"format": frozenset({"--verify-no-changes"})},
    "terraform": {"fmt": frozenset({"-check"})},
    "mix": {"format": frozenset({"--check-formatted"})},
    "dart": {"format": frozenset()},
    "zig": {"fmt": frozenset({"--check"})},
    "buf": {"format": frozenset({"-d", "--diff"})},
    "taplo": {"fmt": frozenset({"--check"}), "format": frozenset({"--check"})},
}

#: Words between a task runner and the task (``npm run lint``); the runner without such a word is below.
RUN_WORDS: dict[str, frozenset[str]] = {
    "mise": frozenset({"run", "r"}),
    "npm": frozenset({"run", "run-script", "rum", "urn"}),
    "yarn": frozenset({"run"}),
    "pnpm": frozenset({"run", "run-script"}),
    "bun": frozenset({"run"}),
    "deno": frozenset({"task"}),
    "composer": frozenset({"run", "run-script"}),
    "hatch": frozenset({"run"}),
    "pdm": frozenset({"run"}),
    "turbo": frozenset({"run"}),
    "moon": frozenset({"run"}),
    "nx": frozenset({"run", "run-many", "affected"}),
}
#: Task runners that take the task as their first word.
BARE_RUNNERS = frozenset(
    {"make", "gmake", "just", "task", "rake", "poe", "invoke", "inv", "turbo", "grunt", "gulp", "ant", "scons", "doit"}
)
#: Runners that check in sessions of their own, whose commands they print.
SESSION_RUNNERS = frozenset({"tox", "nox"})
#: Runners that print the command of a task without the task's name.
UNNAMING_RUNNERS = frozenset({"bun", "yarn"})
#: Tasks that these runners take without a run word.
BARE_TASKS: dict[str, frozenset[str]] = {
    "npm": frozenset({"test", "t", "start", "stop", "restart"}),
    "pnpm": frozenset({"test", "t", "lint", "build", "typecheck", "check", "format", "fmt"}),
    "yarn": frozenset({"test", "lint", "build", "typecheck", "check", "format", "fmt", "tsc"}),
    "mise": frozenset({"test", "lint", "build", "typecheck", "check", "format", "fmt", "ci", "dev"}),
    "composer": frozenset({"test", "lint", "check"}),
    "nx": frozenset({"test", "lint", "build"}),
}
#: Words in a task's name and what such a task is for, the most telling first: ``lint:test`` lints, and ``format``
#: rewrites unless ``check`` is there too.
TASK_WORDS: tuple[tuple[CheckKind, frozenset[str]], ...] = (
    ("format", frozenset({"fmt", "format", "formatting", "gofmt", "prettier"})),
    ("typecheck", frozenset({"typecheck", "typechecks", "types", "tsc", "mypy", "pyright", "typing"})),
    ("lint", frozenset({"lint", "linter", "linting", "vet", "clippy", "eslint", "ruff", "flake8"})),
    ("test", frozenset({"test", "tests", "testing", "spec", "specs", "e2e", "unit", "pytest", "jest", "coverage"})),
    ("build", frozenset({"build", "compile"})),
    ("test", frozenset({"check", "checks", "ci", "verify", "validate", "quality"})),
)
#: Script names (without suffix) that say the script is a check: ``./scripts/test.sh``.
SCRIPT_WORDS: dict[str, CheckKind] = {
    **dict.fromkeys(("test", "tests", "run-tests", "run_tests", "runtests", "e2e", "ci", "check"), "test"),
    "lint": "lint",
    "typecheck": "typecheck",
    "build": "build",
}

#: Programs that only show something.
LOOKERS = _words("""
    ls cat grep egrep fgrep zgrep rg ag ack find fd fdfind head tail wc which type whereis command hash echo printf pwd
    env printenv date jq yq awk gawk mawk sort uniq cut tr column ps pgrep du df tree stat file less more diff cmp comm
    sleep test [ [[ true false : cd pushd popd export set unset source . id whoami uname hostname man help history alias
    jobs wait basename dirname realpath readlink seq xxd hexdump od strings nl tac rev fold md5sum sha1sum sha256sum
    shasum lsof netstat ss top htop uptime free ping dig nslookup host read sed bat batcat eza exa lsd tokei cloc scc
    tput clear exit return trap ulimit umask watch shopt local declare typeset readonly getconf nproc sw_vers journalctl
    base64 dmesg colordiff delta locale arch groups tty nm ldd objdump otool info break continue shift getopts
    """)
#: Of those, the ones that never say what a command was about when anything else is there.
SETTINGS = _words(
    "cd pushd popd export set unset source . echo printf : true false sleep shopt trap ulimit umask local declare "
    "typeset readonly exit return pwd wait clear alias read test [ [[ break continue shift"
)
#: Of those, the ones that print what others wrote: a report in their output may be an old one.
QUOTING = _words(
    "cat grep egrep fgrep zgrep rg ag ack head tail sed awk gawk less more bat batcat jq yq git gh find xargs tac nl "
    "echo printf curl wget journalctl diff tee"
)

#: First words with which a program that can change things only looks.
LOOKING_SUBCOMMANDS: dict[str, frozenset[str]] = {
    "git": _words(
        "status log diff show rev-parse rev-list ls-files ls-tree ls-remote describe blame annotate grep cat-file "
        "for-each-ref merge-base fetch reflog shortlog name-rev count-objects check-ignore check-attr show-ref var "
        "version help whatchanged check-ref-format merge-tree range-diff "
        "diff-tree diff-index diff-files show-branch cherry fsck"
    ),
    "go": _words("doc env list version tool help mod-graph mod-why mod-verify"),
    "npm": _words("ls list ll view info show outdated audit why explain root prefix bin help search"),
    "pnpm": _words("ls list why outdated audit root bin"),
    "yarn": _words("list info why outdated audit"),
    "pip": _words("list show freeze check download index config debug help"),
    "uv": _words("tree version pip-list pip-show pip-freeze pip-tree pip-check"),
    "poetry": _words("show check env search version"),
    "cargo": _words("tree metadata search info version help"),
    "docker": _words("ps images logs inspect version info stats top port diff history search"),
    "docker compose": _words("ps logs config images top port ls version"),
    "kubectl": _words("get describe logs explain top version api-resources cluster-info config"),
    "brew": _words("list info search deps outdated config doctor home"),
    "apt": _words("list search show policy"),
    "apt-get": frozenset(),
    "mise": _words("ls list tasks doctor which where env current config version settings outdated"),
    "terraform": _words("plan show output state version providers graph"),
    "systemctl": _words("status list-units is-active is-enabled show cat"),
    "gem": _words("list info search which"),
    "bundle": _words("list show info outdated"),
    "helm": _words("list status get show history template search"),
    "tmux": _words(
        "list-sessions list-windows list-panes list-clients list-buffers ls capture-pane display-message has-session"
    ),
    "issues": _words("list show"),
}
#: Where people put aside what they look at next; what is done there changes nothing of the project.
SCRATCH = ("/tmp", "/private/tmp", "/var/", "$TMP")  # noqa: S108  (read, not used)
#: Verbs with which any program only shows something, whatever it is (``bd list``, ``entire session show``), and those
#: before which such a word is a name.
LOOKING_VERBS = _words(
    "list ls show status info view get describe current capture logs log history search tree whoami ready outdated "
    "inspect diff stats peek ps help version count query find doctor wait watch prime"
)
DOING_VERBS = _words(
    "add create run set delete remove rm new install update edit exec start stop enable disable apply push pull send "
    "write build deploy publish import export move mv copy cp merge close open init login logout"
)
#: Second words with which ``gh <noun>`` only looks.
LOOKING_GH_VERBS = _words("view list status diff checks watch browse token")
#: Subcommands of git that look unless they get something to do, and the words with which they still only look.
LISTING_GIT: dict[str, frozenset[str]] = {
    "branch": _words(
        "-a -r -v -vv --all --remotes --list -l --show-current --contains --merged --no-merged --points-at"
    ),
    "tag": _words("-l --list -n --contains --points-at --sort"),
    "remote": _words("-v --verbose show get-url"),
    "stash": _words("list show"),
    "worktree": _words("list"),
    "config": _words("--get --get-all --get-regexp -l --list get list"),
    "submodule": _words("status summary"),
    "symbolic-ref": _words("--short -q"),
    "notes": _words("show list"),
    "bisect": _words("log visualize view"),
}

#: How many words make up the subcommand, where it is not one.
LONG_SUBCOMMANDS: dict[str, int] = {"gh": 2, "docker compose": 1, "aws": 2, "gcloud": 3, "az": 2}
#: Subcommands that are followed by another (``go mod tidy``).
NESTED_SUBCOMMANDS: dict[str, frozenset[str]] = {
    "go": frozenset({"mod", "work"}),
    "git": frozenset({"stash", "worktree", "submodule", "remote", "bisect", "lfs", "flow"}),
    "docker": frozenset({"compose", "container", "image", "volume", "network", "system", "buildx"}),
    "npm": frozenset({"config", "cache"}),
    "uv": frozenset({"pip", "tool", "python", "cache"}),
    "cargo": frozenset({"nextest"}),
    "kubectl": frozenset({"rollout", "config"}),
    "helm": frozenset({"repo"}),
    "terraform": frozenset({"state", "workspace"}),
}
#: Programs that take subcommands, whatever they are; for the others the first plain word is one.
SUBCOMMANDERS = frozenset({*CHECKING_SUBCOMMANDS, *LOOKING_SUBCOMMANDS, *FORMATTING_SUBCOMMANDS, *LONG_SUBCOMMANDS}) - {
    "ruff",
    "node",
    "cmake",
}

#: Options before the subcommand that take a value (``git -C dir status``).
VALUED_BEFORE: dict[str, frozenset[str]] = {
    "git": frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace"}),
    "go": frozenset({"-C"}),
    "docker": frozenset({"-H", "--host", "--context", "-f", "--file", "-p", "--project-name"}),
    "kubectl": frozenset({"-n", "--namespace", "--context", "--kubeconfig"}),
    "make": frozenset({"-C", "-f", "--directory", "--file", "-j", "-l", "-I"}),
    "gmake": frozenset({"-C", "-f", "-j"}),
    "just": frozenset({"-f", "--justfile", "-d", "--working-directory"}),
    "npm": frozenset({"--prefix", "-w", "--workspace", "-C"}),
    "pnpm": frozenset({"--filter", "-F", "-C", "--dir"}),
    "yarn": frozenset({"--cwd"}),
    "mise": frozenset({"-C", "--cd", "-E", "--env", "-j", "--jobs"}),
    "gh": frozenset({"-R", "--repo"}),
    "mvn": frozenset({"-f", "--file", "-pl", "-P", "-s", "-T"}),
    "gradle": frozenset({"-p", "--project-dir", "-b"}),
    "bazel": frozenset({"--config"}),
    "task": frozenset({"-t", "--taskfile", "-d", "--dir"}),
    "rake": frozenset({"-f"}),
    "helm": frozenset({"-n", "--namespace"}),
    "uv": frozenset({"--directory", "--project"}),
}

#: Programs that only run another one, and which of their options take a value.
WRAPPERS: dict[str, frozenset[str]] = {
    "wsl": frozenset({"-d", "-u", "--cd", "--distribution", "--user"}),
    "time": frozenset({"-f", "-o"}),
    "env": frozenset({"-u", "--unset", "-C", "--chdir", "-S"}),
    "sudo": frozenset({"-u", "-g", "-h", "-p"}),
    "doas": frozenset({"-u"}),
    "nice": frozenset({"-n"}),
    "ionice": frozenset({"-c", "-n"}),
    "stdbuf": frozenset({"-o", "-i", "-e"}),
    "exec": frozenset({"-a"}),
    "xargs": frozenset({"-n", "-I", "-P", "-L", "-d", "-s", "-a", "-E"}),
    "timeout": frozenset({"-s", "--signal", "-k", "--kill-after"}),
    "gtimeout": frozenset({"-s", "-k"}),
    "npx": frozenset({"-p", "--package"}),
    "uvx": frozenset({"--from", "--with", "-p", "--python"}),
    "pipx run": frozenset({"--spec"}),
    "uv run": frozenset(
        {"--with", "--extra", "--group", "-p", "--python", "--project", "--directory", "--package", "--env-file"}
    ),
    "pixi run": frozenset({"-e"}),
    "conda run": frozenset({"-n", "-p"}),
    "npm exec": frozenset({"-p", "--package"}),
    "xvfb-run": frozenset({"-s", "-n"}),
    "coverage run": frozenset({"--source", "--rcfile"}),
    **dict.fromkeys(("nohup", "setsid", "unbuffer", "caffeinate", "builtin", "bunx", "pnpx"), frozenset()),
    **dict.fromkeys(("poetry run", "pipenv run", "rye run", "dotenv run", "doppler run", "op run"), frozenset()),
    **dict.fromkeys(("bundle exec", "pnpm exec", "yarn exec", "mise exec", "rtx exec", "direnv exec"), frozenset()),
    **dict.fromkeys(("pnpm dlx", "yarn dlx", "mise x"), frozenset()),
}
#: Wrappers with one word of their own before the command (``timeout 60 pytest``).
WRAPPER_WORDS: dict[str, int] = {"timeout": 1, "gtimeout": 1, "direnv exec": 1}

#: Wrappers that take the tools to install before ``--`` (``mise x cargo:cargo-deny -- cargo deny check``).
TOOLS_FIRST = frozenset({"mise exec", "mise x", "rtx exec"})

#: Programs whose first word is a file or a process, never a subcommand.
FILERS = _words("rm rmdir mv cp mkdir touch ln chmod chown tee kill pkill killall dd rsync scp tar zip unzip")
SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "fish"})
INTERPRETERS = frozenset({"python", "node", "ruby", "php", "perl", "tsx", "ts-node", "deno", "bun", "Rscript", "lua"})
#: One program under several names.
ALIASES: dict[str, str] = {
    "py.test": "pytest",
    "python2": "python",
    "python3": "python",
    "py": "python",
    "pip3": "pip",
    "mvnw": "mvn",
    "gradlew": "gradle",
    "nodejs": "node",
    "docker-compose": "docker compose",
    "gmake": "make",
    "inv": "invoke",
    "yarnpkg": "yarn",
    "eslint_d": "eslint",
}

#: Flags that change what a command means, for every program.
PROTECTED = _words(
    "--no-verify --force --force-with-lease --fix --hard --amend -race --update-snapshots --updateSnapshot --update "
    "--unsafe-fixes --write --delete --prune --abort --continue --cached"
)
#: Short ones whose meaning depends on the program (and its subcommand): the label has the long name.
PROTECTED_SHORT: dict[str, dict[str, str]] = {
    "rm": {"f": "-f"},
    "git push": {"f": "--force", "d": "--delete"},
    "git checkout": {"f": "--force"},
    "git clean": {"f": "--force"},
    "git branch": {"D": "--force", "d": "--delete"},
    "git commit": {"n": "--no-verify"},
    "git add": {"f": "--force"},
    "jest": {"u": "--updateSnapshot"},
    "vitest": {"u": "--update"},
    "sed": {"i": "-i"},
}
#: ``--no-…`` that only change what is shown.
HARMLESS_NO = _words("""
    --no-pager --no-color --no-colors --no-edit --no-stat --no-progress --no-ext-diff --no-patch --no-header
    --no-summary --no-fund --no-audit --no-heading --no-filename --no-ignore --no-messages --no-cov --no-warnings
    --no-renames --no-prefix --no-textconv --no-index --no-merges --no-optional-locks --no-group --no-line-number
    """)

#: Options of checks whose value narrows what is checked.
NARROWING = _words("""
    -run --run -k -m -t -tags --testNamePattern --testPathPattern --grep -g --filter --tests -Dtest --package --test
    --suite --include --exclude --ignore --deselect --lf --last-failed --only --select -e -s --scope --bench --lib --bin
    """)
#: Options of checks with a value that says nothing about what is checked.
VALUED = _words("""
    -timeout -count -o -n --timeout --maxfail -c --config --tb -j --jobs --workers -W -parallel -cpu -bench -benchtime
    -coverprofile -covermode -ldflags -gcflags -mod -exec --project --reporter --target --features --max-warnings
    --ext --color --format --output-format -f --rootdir --durations --log-level --max-workers -P --profile --logger
    """)
#: ``-p`` names a package for these and something else for the others.
PACKAGE_FLAG = frozenset({"cargo"})
#: Words with which these run once or go on running, and which select nothing.
MODES: dict[str, frozenset[str]] = {
    "vitest": frozenset({"run", "watch"}),
    "tox": frozenset({"run", "r", "run-parallel", "p"}),
}
#: Ways to say "all of it".
EVERYTHING = frozenset({"./...", ".", "./", "...", "all", "--all", "--workspace", "--all-targets", "-a"})
