"""What the words of one command say: its program and task, what it is for, the check it runs, and what narrows that.

Each command is looked up in the tables of `helix_episodes.extraction.shell.programs`; a program in none of them changes
something. A *protected* flag is one that changes the meaning (``--no-verify``).

>>> role_of("go", "test", ("test", "./store"))
('check', 'go test', 'test')
"""

from __future__ import annotations

import re
from itertools import pairwise, takewhile

from helix_episodes.extraction.shell import programs as known
from helix_episodes.light_imports import Regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from helix_episodes.extraction.shell.programs import CheckKind, Purpose


ASSIGNMENT = Regex(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")


_VERSIONED = Regex(r"(python|pip|node|ruby|php|clang|gcc)-?\d[\d.]*")


def program_name(word: str) -> str:
    """A program's name without folder, version or Windows suffix."""
    name = word.rstrip("/").rpartition("/")[2].rpartition("\\")[2].removesuffix(".exe").removesuffix(".cmd") or word
    versioned = _VERSIONED.fullmatch(name)
    return known.ALIASES.get(name, versioned[1] if versioned else name)


def skip_options(words: tuple[str, ...], valued: frozenset[str]) -> tuple[str, ...]:
    """The words from the first that is neither an option nor an option's value; ``--`` ends options."""
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        if words[at] == "--":
            return words[at + 1 :]
        at += 2 if words[at] in valued else 1
    return words[at:]


def through_module(words: tuple[str, ...]) -> tuple[str, ...]:
    """``python -m pytest x`` is ``pytest x``; so is a script of that name (``node node_modules/.bin/jest``)."""
    if program_name(words[0]) not in known.INTERPRETERS:
        return words
    rest = skip_options(tuple(word for word in words[1:] if word not in {"-u", "-B", "-I"}), frozenset({"-W", "-X"}))
    for flag, module in pairwise(words[1:]):
        if flag == "-m" and module:
            return (module, *words[words.index("-m") + 2 :])
    if rest and program_name(rest[0]) in known.CHECKERS:
        return rest
    return words


#: Flags with which an interpreter is handed its code: ``-c``, ``-e``, ``perl -pi -e``, ``node --eval``.
_INLINE = Regex(r"-[a-zA-Z0-9]*[ce]|--eval|--print")


def subcommand_of(program: str, arguments: tuple[str, ...]) -> tuple[str | None, tuple[str, ...]]:
    """The word (or words) that say what the program is to do, and the arguments after them."""
    if program in known.SESSION_RUNNERS:
        return _session(arguments)
    rest = skip_options(arguments, known.VALUED_BEFORE.get(program, frozenset()))
    task = _task(program, rest)
    if task is not None:
        return task, tuple(rest[rest.index(task) + 1 :]) if task in rest else rest[1:]
    if program in known.INTERPRETERS | known.SHELLS:
        if any(_INLINE.fullmatch(word) for word in arguments[:4]):
            return None, arguments  # what follows the flag is code, no script's name
        script = program_name(rest[0]) if rest and "." in rest[0] and " " not in rest[0] else None
        # Django's manage.py is a program with subcommands of its own.
        return (" ".join(rest[:2]), rest[2:]) if script == "manage.py" else (script, rest[1:])
    if program in known.SUBCOMMANDERS:
        return _known_subcommand(program, rest)
    # ruff, cmake and node, and unknown programs ("./test-harness.sh setup-repo", "./entire status").
    word = arguments[0] if arguments else ""
    # The first word of these is an operand: ``pytest tests``, ``rm build``, ``cat notes``.
    takes_operands = any(program in one for one in (known.CHECKERS, known.LOOKERS, known.FORMATTERS, known.FILERS))
    plain = re.fullmatch(r"[a-z][a-z0-9:_-]*", word) and not takes_operands
    return (word, arguments[1:]) if plain else (None, arguments)


def _task(program: str, rest: tuple[str, ...]) -> str | None:
    """The task a task runner is asked for; ``None`` when it is not asked to run one."""
    if not rest:
        return None
    if rest[0] in known.RUN_WORDS.get(program, ()):
        return next((word for word in rest[1:] if not word.startswith("-")), None)
    if rest[0] in known.BARE_TASKS.get(program, ()):
        return "test" if rest[0] == "t" else rest[0]
    if program in known.BARE_RUNNERS:
        return next((word for word in rest if not word.startswith("-") and "=" not in word), None)
    return None


#: How tox and nox are asked for a session: ``-e lint``, ``-elint``, ``-rs lint``, ``--session=lint``.
_SESSION_FLAG = Regex(r"-[a-zA-Z]*?[es]=?(.*)|--(?:env|sessions?)(?:=(.*))?")
#: A session for one version of Python is that session: ``tests-3.12``, ``tests(3.12)``.
_OF_VERSION = Regex(r"(?:-\d[\d.]*|\(.*\))$")


def _session(arguments: tuple[str, ...]) -> tuple[str | None, tuple[str, ...]]:
    """The session that tox or nox is asked for, and the other arguments; ``None`` where it is none or several.

    >>> [_session(tuple(words.split())) for words in ("-q -e lint", "-s tests-3.12", "-s lint tests")]
    [('lint', ('-q',)), ('tests', ('-s', 'tests-3.12')), (None, ('-s', 'lint', 'tests'))]
    """
    for at, word in enumerate(takewhile(lambda word: word != "--", arguments)):
        if found := _SESSION_FLAG.fullmatch(word):
            attached = found[1] or found[2]
            named = (attached,) if attached else tuple(takewhile(lambda w: w[:1] != "-", arguments[at + 1 :]))
            if len(named) != 1 or "," in named[0]:
                break
            name = _OF_VERSION.sub("", named[0])
            return name, arguments if name != named[0] else arguments[:at] + arguments[at + 1 + (not attached) :]
    return None, arguments


def _known_subcommand(program: str, rest: tuple[str, ...]) -> tuple[str | None, tuple[str, ...]]:
    words = [word for word in rest[:8] if not word.startswith("-")]
    if not words:
        return None, rest
    length = known.LONG_SUBCOMMANDS.get(program, 1)
    if words[0] in known.NESTED_SUBCOMMANDS.get(program, ()):
        length = 2
    if program == "gh" and words[0] in {"api", "browse", "status"}:
        length = 1
    taken = words[:length]
    if length > 1 and not all(re.fullmatch(r"[a-z][a-z0-9-]*", word) for word in taken):
        taken = taken[:1]
    return " ".join(taken), rest[rest.index(taken[-1]) + 1 :]


def role_of(
    program: str, subcommand: str | None, arguments: tuple[str, ...]
) -> tuple[Purpose, str | None, CheckKind | None]:
    """What a command is for, the check it runs and of what kind."""
    if arguments == ("-V",) or subcommand in {"help", "version"}:
        return "look", None, None
    if arguments and arguments[-1] in {"--help", "--version"}:
        return "look", None, None
    errand = known.OTHER_ERRANDS.get(program, {}).get(next((word for word in arguments if word[:1] != "-"), ""))
    if errand is not None:
        return errand, None, None
    if check := _as_check(program, subcommand, arguments):
        return check
    if _looks(program, subcommand, arguments):
        return "look", None, None
    return "change", None, None


def _as_check(
    program: str, subcommand: str | None, arguments: tuple[str, ...]
) -> tuple[Purpose, str | None, CheckKind | None] | None:
    reporting = known.FORMATTERS.get(program)
    name = program
    if reporting is None and subcommand is not None:
        reporting = known.FORMATTING_SUBCOMMANDS.get(program, {}).get(subcommand)
        name = f"{program} {subcommand}"
    if reporting is not None:
        return ("check", name, "format") if reporting & set(arguments) else ("format", None, "format")
    if program in known.CHECKERS and not (program in known.SESSION_RUNNERS and subcommand):
        return "check", program, known.CHECKERS[program]
    if arguments and arguments[0] in known.SYNTAX_ONLY.get(program, ()):
        return "check", f"{program} {arguments[0]}", "lint"
    return _by_subcommand(program, subcommand, arguments) or _by_task(program, subcommand)


def _by_subcommand(
    program: str, subcommand: str | None, arguments: tuple[str, ...]
) -> tuple[Purpose, str | None, CheckKind | None] | None:
    kinds = known.CHECKING_SUBCOMMANDS.get(program, {})
    word = next((word for word in (subcommand or "", *arguments) if word in kinds and word), "")
    word = (subcommand or "").split(" ")[0] if (subcommand or "").split(" ")[0] in kinds else word
    if not word and not (program in {"ruff", "golangci-lint"} and subcommand is None):
        return None
    if word == "test" and known.ONLY_BUILDS.get(program) in arguments:
        word = "build"
    # These do one thing only when they check; the word would split one check in two.
    name = program if program in {"golangci-lint", "ruff", "pre-commit", "biome"} else f"{program} {word}"
    return "check", name, kinds[word]


def _by_task(program: str, subcommand: str | None) -> tuple[Purpose, str | None, CheckKind | None] | None:
    """A task or a script whose name says that it checks."""
    if program in known.RUN_WORDS or program in known.BARE_RUNNERS or program in known.SESSION_RUNNERS:
        words = set(re.split(r"[^a-z0-9]+", (subcommand or "").lower()))
        kind: CheckKind | None = next((kind for kind, signs in known.TASK_WORDS if signs & words), None)
        kind = kind or known.CHECKERS.get(program)  # whatever tox and nox are asked for checks something
        if not subcommand:  # what a bare ``make`` does, by custom
            kind = "build" if program in {"make", "ant", "scons"} else "test" if program == "rake" else None
        if kind == "format" and "check" not in words:
            return "format", None, "format"
        return ("check", f"{program} {subcommand or ''}".strip(), kind) if kind else None
    script = subcommand if program in known.INTERPRETERS | known.SHELLS else program
    kind = _script_kind(script, program)
    return ("check", script if script == program else f"{program} {script}", kind) if kind else None


_TEST_SCRIPT = Regex(r"test_\w+\.py|\w+_test\.(?:py|rb)|\w+[._](?:test|spec)\.[cm]?[jt]sx?|runtests\.py")


def _script_kind(script: str | None, program: str) -> CheckKind | None:
    if not script:
        return None
    if program == "unittest" or script == "manage.py test" or _TEST_SCRIPT.fullmatch(script):
        return "test"
    stem, dot, _ = script.partition(".")
    return known.SCRIPT_WORDS.get(stem) if dot else None


#: PowerShell's verbs that change nothing, and a variable that takes what they found (``$lines = Get-Content x``).
_POWERSHELL_LOOK = Regex(
    r"(?i:get|test|select|measure|compare|find|format|show|resolve|sort|group|where|join|split|convertfrom|convertto)-\w+"
    r"|(?i:write-host|write-output|out-string|out-null|out-host)|\$[\w:]+"
)


def _looks(program: str, subcommand: str | None, arguments: tuple[str, ...]) -> bool:
    """Whether a command that is no check leaves everything as it was."""
    match program:
        case "git":
            looks = _git_looks(subcommand, arguments)
        case "gh" if subcommand == "api":
            query_only = "graphql" in arguments and not any("mutation" in word for word in arguments)
            looks = query_only or not _sends(arguments, writing={"-f", "-F", "--field", "--raw-field", "--input"})
        case "gh":
            words = (subcommand or "").split(" ")
            looks = words[0] in {"search", "status", "browse"} or words[-1] in known.LOOKING_GH_VERBS
        case "curl":
            looks = not _sends(arguments, writing={"-o", "-O", "--output", "--remote-name"})
        case "find" | "fd":
            looks = not {"-delete", "rm", "mv", "cp", "sed"} & set(arguments)
        case "sed":
            looks = not any(re.match(r"-[nErsz]*i|--in-place", word) for word in arguments)
        case "docker" | "docker compose":
            composing = program == "docker compose" or (subcommand or "").startswith("compose ")
            verbs = known.LOOKING_SUBCOMMANDS["docker compose" if composing else "docker"]
            looks = (subcommand or "").rpartition(" ")[2] in verbs
        case _ if program in known.LOOKING_SUBCOMMANDS:
            looks = (subcommand or "").replace(" ", "-") in known.LOOKING_SUBCOMMANDS[program]
            looks = looks or (subcommand == "task" and _asks_only(arguments))
        case _ if program in known.INTERPRETERS:
            looks = _code_looks(arguments)
        case _:
            unknown = program not in known.FILERS | known.SHELLS
            looks = program in known.LOOKERS or bool(_POWERSHELL_LOOK.fullmatch(program))
            looks = looks or (unknown and _asks_only(arguments))
    return looks


_PLAIN = Regex(r"[a-z][a-z-]*")
_READ_ONLY = frozenset({"--readonly", "--read-only"})


def _asks_only(arguments: tuple[str, ...]) -> bool:
    """Whether the verb of a program that is in no table only shows something.

    >>> [_asks_only(tuple(words.split())) for words in ("-q list", "session show", "add list", "run x -- git log")]
    [True, True, False, True]
    """
    inner = arguments[arguments.index("--") + 1 :] if "--" in arguments else ()
    if inner:
        program = program_name(inner[0])
        return role_of(program, subcommand_of(program, inner[1:])[0], inner[1:])[0] == "look"
    if not _READ_ONLY.isdisjoint(arguments):
        return True
    first, second = ([word for word in arguments if not word.startswith("-")] + ["", ""])[:2]
    if first in known.LOOKING_VERBS:
        return True
    return bool(_PLAIN.fullmatch(first)) and first not in known.DOING_VERBS and second in known.LOOKING_VERBS


_PRINTS = Regex(r"\b(?:print|puts|say|p)\b|console\.log|process\.stdout")
#: What changes something, or judges it and ends accordingly.
_ACTS = Regex(
    r"open\([^)]*,\s*(?:mode\s*=\s*)?['\"][wax]|\bwrite(?!\w)|write_|writeFile|appendFile|unlink|remove\(|rename|mkdir|"
    r"rmtree|shutil|subprocess|os\.system|spawn|\bexec\w*\(|requests\.(?:post|put|patch|delete)|\.save\w*\(|\bdump\(|"
    r"to_csv|commit\(|\b(?:INSERT|UPDATE|DELETE|DROP|CREATE)\b|\bassert\b|\braise\b|\bexit\(|\b(?:valid|ok)\b"
)


def _code_looks(arguments: tuple[str, ...]) -> bool:
    """Whether code on the command line prints something, changes nothing and judges nothing."""
    at = next((n for n, word in enumerate(arguments[:4]) if _INLINE.fullmatch(word)), None)
    if at is None or at + 1 >= len(arguments) or any("i" in word for word in arguments[: at + 1]):  # perl -pi -e
        return False
    code = arguments[at + 1]
    return bool(_PRINTS.search(code)) and not _ACTS.search(code)


def _git_looks(subcommand: str | None, arguments: tuple[str, ...]) -> bool:
    if subcommand is None:
        return True
    first, _, second = subcommand.partition(" ")
    if first not in known.LISTING_GIT:
        return first in known.LOOKING_SUBCOMMANDS["git"]
    listing = known.LISTING_GIT[first]
    operands = arguments[arguments.index(first) + 1 :] if first in arguments else ()
    if first in {"stash", "bisect", "notes"}:
        return second in listing
    plain = [word for word in operands if not word.startswith("-")]
    if first == "config" and len(plain) == 1 and not {"--unset", "--unset-all", "--edit"} & set(operands):
        return True
    # Alone they list, but a bare "git worktree" or "git symbolic-ref HEAD x" does something.
    return not operands or bool(listing & {word.partition("=")[0] for word in operands})


def _sends(arguments: tuple[str, ...], *, writing: set[str]) -> bool:
    """Whether a request does more than get: by its method, else by carrying data."""
    for flag, value in zip(arguments, (*arguments, "")[1:], strict=True):
        if flag in {"-X", "--method", "--request"}:
            return value.upper() not in {"GET", "HEAD"}
        if method := re.match(r"(?:-X|--method=|--request=)([A-Za-z]+)$", flag):
            return method[1].upper() not in {"GET", "HEAD"}
    data = {"-d", "--data", "--data-raw", "--data-binary", "--json", "-F", "--form", "-T", "--upload-file"}
    return bool((writing | data) & {word.partition("=")[0] for word in arguments})


def protected_flags(program: str, subcommand: str | None, arguments: tuple[str, ...]) -> tuple[str, ...]:
    """The flags that change what the command means, sorted; short ones by their long name where they have one."""
    short = known.PROTECTED_SHORT.get(f"{program} {subcommand}") or known.PROTECTED_SHORT.get(program) or {}
    flags: set[str] = set()
    for word in takewhile(lambda word: word != "--", arguments):
        name = word.partition("=")[0]
        disables = name.startswith("--no-") and name not in known.HARMLESS_NO
        if disables or name in known.PROTECTED or name.startswith("--skip"):
            flags.add(name)
        elif re.fullmatch(r"-[a-zA-Z]+", word):
            flags |= {short[letter] for letter in word[1:] if letter in short}
    return tuple(sorted(flags))


def scope_of(program: str, arguments: tuple[str, ...]) -> tuple[str, ...]:
    """What narrows a check: operands and the options that select, each with its value."""
    found: set[str] = set()
    goals = known.CHECKING_SUBCOMMANDS.get(program, {}).keys() | known.MODES.get(program, frozenset())
    goals |= {"clean"}  # "mvn clean verify"
    words = iter(arguments)
    for word in words:
        name, equals, value = word.partition("=")
        if name in known.NARROWING or (name == "-p" and program in known.PACKAGE_FLAG):
            found.add(f"{name} {value if equals else next(words, '')}".strip())
        elif word in known.VALUED:
            next(words, None)
        elif not word.startswith("-") and word not in known.EVERYTHING | goals and not ASSIGNMENT.match(word):
            found.add(word)
    return tuple(sorted(found))
