"""How many secrets redaction cuts, how much else it cuts with them, what it finds in real logs, and how fast it is.

    python benchmarks/redaction.py [--logs FOLDER]

*Cut* and *cut in vain* are rates over generated samples (``tests/helpers/secret_samples.py``): texts with a secret, of
which nothing may be left, and texts that only look like it, which must stay as they are. *Without a sign* are secrets
that neither shape nor name gives away; they are what redaction cannot do. *Hits* are what it cuts in every text of the
real logs, by kind, with the place of each that is no home folder, to be looked up and judged by eye; no value is shown.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

sys.path.append(str(Path(__file__).parents[1] / "tests" / "helpers"))
from helix_episodes.redaction import redact
from secret_samples import Sample, false_samples, hard_samples, true_samples

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
ENDINGS = {".jsonl", ".json", ".md", ".traj", ".txt", ".yaml"}
SHOWN_PLACES = 40


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=Path, default=CORPORA, help="folder of real logs; those of the corpora")
    rates()
    hits(parser.parse_args().logs)


def rates() -> None:
    for name, samples in (("cut", list(true_samples())), ("without a sign: cut", list(hard_samples()))):
        gone = [one for one in samples if is_gone(one)]
        print(f"{name:22} {len(gone)} of {len(samples)} ({len(gone) / len(samples):.1%})")
        missed = Counter(one.kind for one in samples if not is_gone(one))
        print("".join(f"  missed: {count} x {kind}\n" for kind, count in missed.items()), end="")
    kept = list(false_samples())
    vain = [one for one in kept if redact(one.text).cuts]
    print(f"{'cut in vain':22} {len(vain)} of {len(kept)} ({len(vain) / len(kept):.1%})")
    print("".join(f"  {one.text}\n" for one in vain), end="")


def is_gone(sample: Sample) -> bool:
    """Nothing of the secret is left, not even its latter half."""
    left = redact(sample.text).text
    half = sample.secret[len(sample.secret) // 2 :]
    return sample.secret not in left and (len(half) < 8 or half not in left)


def hits(folder: Path) -> None:
    if not folder.is_dir():
        print(f"no real logs in {folder}")
        return
    counts, places, characters, spent = Counter[str](), list[str](), 0, 0.0
    for path in sorted(path for path in folder.rglob("*") if path.suffix in ENDINGS and path.is_file()):
        for number, text in texts_of(path):
            began = time.perf_counter()
            cuts = redact(text).cuts
            spent += time.perf_counter() - began
            characters += len(text)
            counts.update(cut.kind for cut in cuts)
            places += [f"{path.relative_to(folder)}:{number} {cut.kind} ({cut.length} characters)"
                       for cut in cuts if cut.kind != "home"]  # fmt: skip
    print(f"real logs              {characters / 1e6:.1f} million characters in {spent:.1f} s")
    print("".join(f"  {count} x {kind}\n" for kind, count in counts.most_common()), end="")
    print("".join(f"  {place}\n" for place in places[:SHOWN_PLACES]), end="")


def texts_of(path: Path) -> Iterator[tuple[int, str]]:
    """Every text in a log with its line; of one JSON document, line 1; of anything else, its lines."""
    data = path.read_bytes()
    lines = data.split(b"\n") if path.suffix != ".json" else [data]
    for number, line in enumerate(lines, 1):
        try:
            yield from ((number, text) for text in strings(orjson.loads(line)))
        except orjson.JSONDecodeError:
            yield number, line.decode("utf-8", "replace")


def strings(value: Any) -> Iterable[str]:  # noqa: ANN401  (JSON)
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from strings(each)


if __name__ == "__main__":
    main()
