"""`kill -9` at random moments while a process indexes, renames and deletes; then a look around.

    python -m benchmarks.crash [--rounds 200] [--seed 1]

In each round a process changes corpora in an endless loop until it is killed. Then it is checked
that no corpus is lost, that every corpus is whole, text by text, under one of the names it was
given, that the next start sweeps what was left and says so, and that another write goes through.
Prints the counts; ends with status 1 at the first round that finds a fault.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

from tracert.indexing import File
from tracert.workspace import Workspace

ROOT = Path(__file__).resolve().parents[1]
STEADY = "Steady"
#: The changing process: a corpus is made, grows, gets another name and goes, for ever.
WORKER = """
    import itertools, sys
    from tracert.indexing import File
    from tracert.workspace import Workspace
    space = Workspace(sys.argv[1])
    print("there", flush=True)
    for turn in itertools.count():
        for kind in ("a", "b"):
            text = "".join(f"Line {line} of text {kind}.\\n" for line in range(400))
            space.index([File(f"{kind}.txt", text.encode())], "Moving")
        space.rename("Moving", "Moved")
        space.delete("Moved")
"""


class Fault(Exception):
    """What was found after a kill that must not be."""


def text_of(kind: str) -> str:
    """The text that the worker writes under that name."""
    return "".join(f"Line {line} of text {kind}.\n" for line in range(400))


def prepare(home: Path) -> None:
    """A corpus that the worker never touches."""
    Workspace(home).index([File("s.txt", text_of("s").encode())], STEADY)


def round_(home: Path, seconds: float) -> str:
    """Let the worker work for so long, kill it, look around; what the next start said.

    Raises:
        Fault: a corpus is lost, is not whole, or nothing can be written any more.
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(WORKER), str(home)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    if process.stdout.readline() != "there\n":
        raise Fault("The worker did not start.")
    time.sleep(seconds)
    process.kill()
    process.wait()
    process.stdout.close()
    return look(home)


def look(home: Path) -> str:
    """Start anew and check all; what the start said.

    Raises:
        Fault: see `round_`.
    """
    space = Workspace(home)
    said = space.tidy()
    names = [record.name for record in space.corpora()]
    if STEADY not in names or set(names) - {STEADY, "Moving", "Moved"} or len(names) > 2:
        raise Fault(f"The corpora are {names}.")
    for record in space.corpora():
        kinds = [document.name[0] for document in record.documents]
        if kinds not in (["s"], ["a"], ["a", "b"]):
            raise Fault(f"{record.name} holds {kinds}.")
        for document in record.documents:
            if space.document_text(record.name, document.fingerprint) != text_of(document.name[0]):
                raise Fault(f"{document.name} of {record.name} is not whole.")
        if not space.ask("Which line?", corpus=record.name, method="native_rag").result.evidence:
            raise Fault(f"{record.name} finds nothing.")
    if space.store.tidy():
        raise Fault("The start left something to sweep.")
    for name in set(names) - {STEADY}:
        space.delete(name)
    space.index([File("n.txt", text_of("n").encode())], "Next")
    space.delete("Next")
    return said


def main() -> int:
    """Run the rounds and print what was counted."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    moments = random.Random(chosen.seed)
    cleaned = 0
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        prepare(home)
        for number in range(chosen.rounds):
            try:
                cleaned += bool(round_(home, moments.uniform(0.0, 2.0)))
            except Fault as fault:
                print(json.dumps({"round": number, "fault": str(fault)}))
                return 1
    print(json.dumps({"rounds": chosen.rounds, "faults": 0, "cleaned_and_said": cleaned}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
