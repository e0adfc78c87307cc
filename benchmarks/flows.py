"""How many modules and functions of ours does one command go through?

    python benchmarks/flows.py [--modules]

Each command runs in a process of its own on a copy of the demo memory, with a profiler that notes every function of
ours that is called. What runs while a module loads (its body, class bodies) is left out, and so are comprehensions. A
short flow is one that a person can follow; ``--modules`` lists where each goes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from helix_cli import app
from helix_graph import Memory

ROOT = Path(__file__).resolve().parents[1]
#: What is counted, in a child that writes its count to the file named first.
TRACER = """
import json, sys
touched = set()
def importing(frame):
    while frame is not None:
        if frame.f_code.co_name == "<module>" and "/helix_" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False
def note(frame, event, argument):
    code = frame.f_code  # a class body is no optimised code; a comprehension or lambda has a name in <>
    if event == "call" and "/helix_" in code.co_filename and code.co_flags & 1 and "<" not in code.co_name[0]:
        if (code.co_filename, code.co_qualname) not in touched and not importing(frame):
            touched.add((code.co_filename, code.co_qualname))
out, sys.argv = sys.argv[1], ["helix-graph", *sys.argv[2:]]
from helix_cli.entry import main
sys.setprofile(note)
try:
    main()
except SystemExit as end:
    code = end.code or 0
finally:
    sys.setprofile(None)
    json.dump(sorted(touched), open(out, "w"))
"""


def main() -> None:
    """Prints a line a flow."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--modules", action="store_true", help="list the modules of each flow")
    listed: bool = parser.parse_args().modules
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for title, arguments in _flows(folder):
            touched = _traced(folder, arguments)
            modules = sorted({_module(file) for file, _ in touched})
            print(f"{title:18} {len(modules):4} modules {len(touched):5} functions")
            if listed:
                print(*(f"    {module}" for module in modules), sep="\n")


def _flows(folder: Path) -> list[tuple[str, list[str]]]:
    logs = sorted((Path(app.__file__).parent / "demo" / "logs").rglob("*.jsonl"))
    memory = Memory.init(folder)
    memory.extract(logs[1:])
    memory.graph.compile()
    insight = memory.insights.store("When pytest names a missing module, add it to requirements-dev.txt", ["pytest"])
    return [
        ("episode extract", ["episode", "extract", str(logs[0])]),
        ("compile", ["compile"]),
        ("seen", ["seen", "ModuleNotFoundError: No module named 'stripe'"]),
        ("path", ["path", "--from", "pytest fails: ModuleNotFoundError", "--to", "success"]),
        ("patterns", ["patterns"]),
        (
            "insight feedback",
            ["insight", "feedback", "--names", json.dumps([insight["name"]]), "--outcome", "delivered"],
        ),
    ]


def _traced(folder: Path, arguments: list[str]) -> list[tuple[str, str]]:
    out = folder / "touched.json"
    command = [sys.executable, "-c", TRACER, str(out), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)}: {done.stderr or done.stdout}")
    return [(file, function) for file, function in json.loads(out.read_text())]


def _module(file: str) -> str:
    return str(Path(file).resolve().relative_to(ROOT))


if __name__ == "__main__":
    main()
