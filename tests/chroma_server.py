"""A Chroma server of a test's own, which may be killed and started again in the same place."""

from __future__ import annotations

import subprocess
import sys
import uuid
from pathlib import Path
from urllib.request import Request, urlopen

from benchmarks.serving import await_answer, free_port

TENANT = "default_tenant"
#: A key for servers that want none; it has the mark that the output of the tests is searched for.
KEY = "ck-k3ymark-0123456789"


class ChromaServer:
    """`chroma run` on loopback; its data lie in `folder`, its log beside them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        chroma = Path(sys.executable).with_name("chroma")
        log_path = self.folder.with_suffix(".log")
        with log_path.open("ab") as log:
            self._process = subprocess.Popen(
                [chroma, "run", "--path", str(self.folder), "--port", str(self.port)],
                stdout=log,
                stderr=log,
            )
        await_answer(f"{self.url}/api/v2/heartbeat", self._process, log_path, seconds=120)

    def kill(self) -> None:
        """End it at once, whatever it is doing."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(60)
            self._process = None

    def new_database(self) -> str:
        """The name of a new, empty database."""
        name = f"test-{uuid.uuid4().hex}"
        request = Request(
            f"{self.url}/api/v2/tenants/{TENANT}/databases",
            data=f'{{"name": "{name}"}}'.encode(),
            headers={"content-type": "application/json"},
        )
        urlopen(request, timeout=60).close()
        return name
