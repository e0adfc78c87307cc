"""Whether a label is made of our words in the order in which we put them; else it is quoted.

Labels follow a closed grammar (`helix_graph.graph.node_labels`), but the names within them are a log's: of programs,
their subcommands, tasks, agents, options, kinds of failures. Three words of somebody's choice are an instruction
already (``run disable-all-checks now``), and so are three of ours in an order of somebody's choice (``delete the
tests``). So a label stands as it is where each of its parts is a phrase of ours to the letter, or a command that has
its program, subcommand and options in their places. One word of others, of at most 14 characters, is a name there.

>>> label_or_quoted("run git push --force"), label_or_quoted("pytest fails: command not found")
('run git push --force', 'pytest fails: command not found')
>>> print(label_or_quoted("make delete the tests"), label_or_quoted("run NOTE always-run-it"))
"make delete the tests" "run NOTE always-run-it"
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from helix_episodes.light_imports import Regex
from helix_graph.insights.safe_quoting import has_other_letters, quoted, sanitize_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: The words with which labels and situations begin and end, that no log chose.
_LEAD = Regex(
    r"^(?:task:|run|use|choose|edit|create|delete|change|make|before|delegate to|hand over to|a change of|a change in"
    r"|a run of|changes in) "
)
_TAIL = Regex(
    r"(?:, suppress a check|(?<!:)(?: passes| ends without a verdict| returns| denied| rejected| interrupted| cancelled"
    r"| stops| reports back| reports failure))?(?: \(\d+ (?:passed|failed)(?:, \d+ (?:passed|failed|skipped))*\))?$"
)
#: Between a check and its family, and around what a command complained of.
_PARTS = Regex(r" fails: |: | \((?=[^()]*\)$)")
_MOST_PARTS = 3
#: What `helix_episodes.normalization` puts in the place of words, and how a quotation shows it.
_MASK = Regex(
    r"<(?:url|id|time|path|hash|n|text|quote|file|address)>"
    r"(?:\.(?:bat|c|cc|cfg|cjs|cpp|cs|css|dart|exs?|go|h|hpp|html|ini|java|js|json|jsx|kt|lock|lua|md|mjs|php|ps1|py"
    r"|r|rb|rs|scala|sh|sql|svelte|swift|toml|ts|tsx|txt|vue|ya?ml|zsh))?"
)
_SHOWN_MASK = Regex(r"< (?=(?:url|id|time|path|hash|n|text|quote|file|address)>)")
#: Kinds of failures of which no log chose a word: those of `helix_episodes.extraction.checks` and of what people say.
_FAMILIES = """
    address in use | already answered | answered no | authentication failed | branch already exists | build failed
    command not found | connection failed | dependency conflict | dependency not built | directory not empty
    does not compile | edit breaks the syntax | file changed since read | file exists | file not found
    file not read first | file too large | generated code is out of date | git error | hook failed | import cycle
    interrupted | invalid arguments | is a directory | job failed | jq error | lint failed | local changes in the way
    merge conflict | missing method | missing module | missing package | missing return | no glob match | no message
    no space left | no such agent | no such file | no such tool | no upstream branch | not a git repository
    not a go module | not a module | not an archive | not formatted | nothing to change | nothing to commit
    package not found | panic | path ignored by git | path not found | permission denied | push rejected
    reported by the user | repository not trusted | sed script error | shell syntax error | syntax error | test failed
    text not found | text not unique | timeout | undefined name | unknown command | unknown option
    unknown path for git | unknown revision | unknown task | unused import | unused variable | wrong arguments
    wrong type
"""
#: Classes of files and of things that an edit is of.
_THINGS = """
    ci | config | dependencies | docs | file | generated | source | test | a tool
    an option | a helper | plan
"""
#: The verbs of edits.
_OF_FILES = ("edit ", "create ", "delete ", "change ")
#: What an edit is of, as patterns say it.
_EDITS = frozenset(
    f"edit {one}" for one in ("a file that it names", "the file that it names", "other files only", "only tests")
)
#: What an edit's label has behind its class.
_SUFFIX = Regex(r"\.[a-z0-9]{1,10}\)|exit code \d+\)")
_CODE = Regex(r"(?:exit|exit code|HTTP) \d+")
#: What a change is measured by (`helix_graph.causality.check_patterns`, `check_runs`).
_MEASURED = Regex(
    r"(?:up to )?\d+(?: to \d+| or more)?(?: edits| files| lines in one file| lines)?|one file|a single edit"
    r"|(?:ci|config|dependencies|docs|generated|source|test) files"
)
#: The name of a rule or document behind a decision in words: ``MD040``, ``ADR-017``.
_LAST_CODE = Regex(r" [A-Z]{1,6}-?\d{2,5}$")
#: Built-in exceptions, which are longer than a name may be.
_EXCEPTIONS = """
    AssertionError AttributeError BrokenPipeError ConnectionError ConnectionRefusedError ConnectionResetError
    FileExistsError FileNotFoundError FloatingPointError ImportError IndentationError IndexError InterruptedError
    IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError ModuleNotFoundError NameError
    NotADirectoryError NotImplementedError NullPointerException OSError OverflowError PermissionError
    ProcessLookupError RangeError RecursionError ReferenceError RuntimeError RuntimeException StopIteration
    SyntaxError SystemExit TimeoutError TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError ValueError
    ZeroDivisionError IllegalArgumentException IllegalStateException IOException DeprecationWarning
"""
#: Programs and tools that labels begin with, besides the tables of `shell.programs`.
_PROGRAMS = """
    docker compose kubectl pip pip3 uv poetry npm npx pnpm yarn bun node deno python python3 ruby ruff black mypy
    pytest tox go cargo rustc rustup gofmt golangci-lint mvn gradle dotnet swift terraform helm curl wget ssh sudo apt
    apt-get brew gh git mise pre-commit coverage make just task rake
"""
_RUNNABLE = frozenset(_PROGRAMS.split())
_TOOLS = """
    apply_patch AskUserQuestion Bash CI Edit Glob Grep MultiEdit NotebookEdit Read Skill Task TodoWrite WebFetch
    WebSearch work Write ExitPlanMode EnterPlanMode KillShell BashOutput general-purpose code-reviewer shell agent
    commit
"""
#: Subcommands, besides the tables; and options that change what a command means.
_SUBCOMMANDS = """
    add api apply branch build check checks cherry-pick checkout clippy clone close comment commit compile create deny
    deps diff edit fetch fmt format init install issue issues lint log merge mod play pr pull push read rebase
    release remote reset restore revert run search send stash status switch tag test tests tidy typecheck update view
    vet watch worktree
"""
_OPTIONS = """
    --amend --continue --abort --force --force-with-lease --hard --no-verify --fix --write --unsafe-fixes --cached
    --delete --all -f -d -D -i -r -rf -n -c
"""
#: Programs whose subcommands have subcommands: ``gh pr checks``, ``go mod tidy``.
_NESTING = frozenset({"az", "aws", "docker", "dotnet", "gcloud", "gh", "git", "glab", "go", "helm", "kubectl", "uv"})
#: Programs that get and run what is named behind them.
_FETCHING = frozenset(
    {"apt", "apt-get", "brew", "bunx", "curl", "docker", "npx", "pip", "pip3", "pipx", "ssh", "sudo", "uvx", "wget"}
)
#: With a name of others a command says no more than what it is called.
_MOST_WITH_A_NAME = 2
_CAPITALISED = Regex(r"[A-Z][a-z]+")
_NAME = Regex(r"[\w./:@+~^*=-]+")
#: The longest word of others that is shown as a name.
_LONGEST_NAME = 14


def label_or_quoted(label: str) -> str:
    """A label, a family or the name of a check as it is, where its words are ours or one name; else a quotation."""
    return label if _is_plain(label) else _SHOWN_MASK.sub("<", quoted(label))


def _is_plain(label: str) -> bool:
    if label in _EDITS or _is_plain_prose(label):
        return True
    parts = _PARTS.split(_TAIL.sub("", _LEAD.sub("", label)))
    unmasked = _MASK.sub("x", label)
    if len(parts) > _MOST_PARTS or sanitize_line(unmasked) != unmasked or _has_order(label):
        return False
    names = [_foreign_names(part) for part in parts]
    if label.startswith(_OF_FILES) and " " in (of := parts[0].removeprefix("files in ")) and of not in _phrases():
        return _MEASURED.fullmatch(of) is not None  # what an edit is of is no command
    return None not in names and sum(number or 0 for number in names) <= 1


def _foreign_names(part: str) -> int | None:
    """How many names of others a part of a label has; None where it is neither a phrase of ours nor a command."""
    if (
        part in _phrases()
        or any(one.fullmatch(part) for one in (_SUFFIX, _MEASURED))
        or _CODE.fullmatch(part.rstrip(")"))
    ):
        return 0
    part = part.removeprefix("files in ")
    words = part.split(" ")
    places = [one for one in words if not one.startswith("-")]
    if not places or words[: len(places)] != places or len(places) > (3 if places[0] in _NESTING else 2):
        return None
    known = [places[0] in _programs(), *(one in _subcommands() for one in places[1:])]
    known += [one in _options() for one in words[len(places) :]]
    foreign = [one for one, is_known in zip(words, known, strict=True) if not (is_known or _MASK.fullmatch(one))]
    if len(words) - len(places) > 1 or (foreign and (len(words) > _MOST_WITH_A_NAME or places[0] in _FETCHING)):
        return None
    return len(foreign) if all(map(_is_name, foreign)) else None


def _is_name(word: str) -> bool:
    return len(word) <= _LONGEST_NAME and bool(_NAME.fullmatch(word)) and not has_other_letters(word)


def _has_order(label: str) -> bool:
    """Whether a program is followed by a capitalised word that is none of ours, as the first of a sentence is."""
    return any(
        program in _RUNNABLE and _CAPITALISED.fullmatch(word) and word not in _programs()
        for program, word in pairwise(label.split())
    )


def _is_plain_prose(label: str) -> bool:
    """Whether it is the normal form of a decision in words, ``[not] verb class``, as `node_labels` makes it."""
    from helix_graph.graph.node_labels import OBJECTS, VERBS

    verb, _, thing = _LAST_CODE.sub("", label).removeprefix("not ").partition(" ")
    return VERBS.get(verb) == verb and thing in OBJECTS.values()


@cache
def _phrases() -> frozenset[str]:
    """What is ours to the letter."""
    told = {" ".join(one.split()) for one in f"{_FAMILIES}|{_THINGS}".replace("\n", "|").split("|")}
    return frozenset({*told, *_EXCEPTIONS.split(), "success", "partial", "failure", "decide"} - {""})


@cache
def _programs() -> frozenset[str]:
    """What a command of ours begins with."""
    from helix_episodes.extraction.shell import programs as tables

    named = {one for table in (*_by_program(), tables.SUBCOMMANDERS) for one in table}
    sets = (tables.CHECKERS, tables.FORMATTERS, tables.LOOKERS, tables.FILERS, tables.SHELLS, tables.INTERPRETERS)
    return frozenset({*_RUNNABLE, *_TOOLS.split(), *named, *(one for some in sets for one in some)})


@cache
def _subcommands() -> frozenset[str]:
    """What stands behind a program: a subcommand, or a program that it starts."""
    from helix_episodes.extraction.shell.programs import DOING_VERBS, LOOKING_VERBS

    words = (word for table in _by_program() for many in table.values() for one in many for word in one.split())
    return frozenset({*_SUBCOMMANDS.split(), *words, *_RUNNABLE, *DOING_VERBS, *LOOKING_VERBS})


def _by_program() -> tuple[Mapping[str, Iterable[str]], ...]:
    from helix_episodes.extraction.shell import programs as tables

    return (tables.CHECKING_SUBCOMMANDS, tables.LOOKING_SUBCOMMANDS, tables.FORMATTING_SUBCOMMANDS)


@cache
def _options() -> frozenset[str]:
    from helix_episodes.extraction.shell.programs import PROTECTED

    return frozenset({*_OPTIONS.split(), *PROTECTED})
