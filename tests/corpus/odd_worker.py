"""A worker whose one loader does what the file says: hangs, eats memory, dies, prints."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from pathlib import Path

from tracert.corpus.apart import worker
from tracert.corpus.loaders import Content, Limits, registry
from tracert.corpus.model import Mark

#: What begins a file for this loader; the zero byte makes it no plain text.
SIGN = b"\x00ODD "
ROOT = Path(__file__).resolve().parents[2]
#: What a `Parser` runs to have this worker.
PROGRAM = (
    f"import sys; sys.path.insert(0, {str(ROOT)!r}); "
    "from tests.corpus.odd_worker import main; main()"
)


class OddLoader:
    kind, title, suffixes = "odd", "odd", (".odd",)

    def recognises(self, data: bytes, name: str) -> bool:
        return data.startswith(SIGN)

    def load(self, data: bytes, name: str, limits: Limits) -> Content:
        match data.removeprefix(SIGN).decode():
            case "hang":
                while True:
                    pass
            case "sleep":
                time.sleep(10_000)
            case "eat":
                kept = []
                while True:
                    kept.append(bytearray(1_000_000))
            case "eat at once":
                bytes(1 << 46)
            case "die":
                os._exit(3)
            case "crash":
                ctypes.string_at(0)
            case "break":
                raise KeyError("a bug of a loader")
            case "print":
                sys.stdout.write("no frame at all")
                sys.stdout.flush()
                os.write(1, b"nor this")
            case "environment":
                text = "\n".join(f"{key}={value}" for key, value in os.environ.items())
                return Content(text, (Mark(0, None, ()),))
            case "process":
                return Content(str(os.getpid()), (Mark(0, None, ()),))
        return Content("read", (Mark(0, None, ()),))


def main() -> None:
    registry.LOADERS = (OddLoader(),)  # type: ignore[misc]
    worker.main()
