"""List what redaction cuts in the real logs, each different cut once with what is around it, to be judged by a reader.

    python benchmarks/redaction_cuts.py [FOLDER ...]

Home folders are left out. The values are shown: the corpora are public, and whether a cut was right cannot be judged
from its place alone. The last line of each folder has the number of cuts and the processor time of redaction.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path

from redaction import CORPORA, ENDINGS, texts_of

from helix_episodes.redaction import HOME, redact

AROUND, SHOWN = 60, 90


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="*", default=[CORPORA / "claude-code", CORPORA / "agent-sessions"])
    for folder in parser.parse_args().folders:
        list_cuts(folder)


def list_cuts(folder: Path) -> None:
    counts, spent = Counter[tuple[str, str]](), 0.0
    for path in sorted(path for path in folder.rglob("*") if path.suffix in ENDINGS and path.is_file()):
        for number, text in texts_of(path):
            began = time.process_time()
            cuts = redact(text).cuts
            spent += time.process_time() - began
            for cut in cuts:
                if cut.kind != HOME:
                    end = cut.start + cut.length
                    value = text[cut.start : end]
                    counts[cut.kind, value] += 1
                    if counts[cut.kind, value] == 1:
                        before, after = text[max(0, cut.start - AROUND) : cut.start], text[end : end + AROUND]
                        print(
                            f"{path.relative_to(folder)}:{number} {cut.kind} {before!r} >>{value[:SHOWN]!r}<< {after!r}"
                        )
    print(f"{folder.name}: {sum(counts.values())} cuts, {len(counts)} different; {spent:.1f} s")


if __name__ == "__main__":
    main()
