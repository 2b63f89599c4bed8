"""A server that is compatible with S3, as a process of its own: moto's, with nothing in it at first."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BUCKET = "kmc-bucket"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "kmc", "AWS_SECRET_ACCESS_KEY": "kmc-secret", "AWS_EC2_METADATA_DISABLED": "true"}

# It prints its port when it listens, and answers each line: `stop` lets it listen no more, `start` again, with all that
# it holds, and `faults JSON` makes some requests fail. It ends with its standard input: whatever happens to the tests.
_SERVE = """
import itertools, json, socket, sys, threading
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

BODY = b"<Error><Code>%s</Code><Message>This is a fault of a test.</Message></Error>" + b" " * 200
NAMES = {503: b"SlowDown", 500: b"InternalError", 429: b"TooManyRequests", 403: b"AccessDenied"}
moto, faults, asked, lock = DomainDispatcherApplication(create_backend_app), None, 0, threading.Lock()

def application(environ, start_response):
    global asked
    with lock:
        concerned = faults and environ["REQUEST_METHOD"] in faults["methods"] and faults["path"] in environ["PATH_INFO"]
        number, asked = asked, asked + bool(concerned)
    if not concerned or number % faults["of"] >= faults["fail"]:
        return moto(environ, start_response)
    if faults["status"] == 0:
        environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
        raise ConnectionResetError
    body = BODY % NAMES[faults["status"]]
    headers = [("Content-Type", "application/xml"), ("Content-Length", str(len(body)))]
    start_response(f"{faults['status']} Fault", headers)
    return [body if environ["REQUEST_METHOD"] != "HEAD" else b""]

def served(port):
    server = make_server("127.0.0.1", port, application, threaded=True)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    return server

server = served(0)
port = server.server_port
print(port, flush=True)
for line in sys.stdin:
    word, _, given = line.strip().partition(" ")
    if word == "stop":
        server.shutdown()
        server.server_close()
    elif word == "start":
        server = served(port)
    elif word == "faults":
        told, faults, asked = asked, json.loads(given), 0
    print(told if word == "faults" else word, flush=True)
"""


@dataclass(frozen=True, slots=True)
class S3Server:
    """A server that runs, and listens on a port of this machine."""

    port: int
    process: subprocess.Popen[bytes]

    def address(self, path: str = "", bucket: str = BUCKET) -> str:
        """The address of a folder in a bucket."""
        return f"s3://{bucket}/{path}?endpoint_override=127.0.0.1:{self.port}&scheme=http"

    @property
    def files(self) -> Any:
        """Its files, as pyarrow sees them: paths begin with the bucket."""
        from pyarrow.fs import S3FileSystem

        return S3FileSystem(
            endpoint_override=f"127.0.0.1:{self.port}", scheme="http", allow_bucket_creation=True, region="us-east-1"
        )

    def stop(self) -> None:
        """Refuse connections."""
        assert self._answer("stop") == "stop"

    def start(self) -> None:
        """Accept connections again."""
        assert self._answer("start") == "start"

    @contextmanager
    def failing(
        self, fail: int, of: int = 1, *, status: int = 503, path: str = "", methods: Sequence[str] = ("GET", "HEAD")
    ) -> Iterator[list[int]]:
        """Answer the first `fail` of each `of` requests for some path with an error, or drop the connection (status 0).

        After the block, the list says how many requests this concerned.
        """
        faults = {"fail": fail, "of": of, "status": status, "path": path, "methods": methods}
        asked: list[int] = []
        self._answer(f"faults {json.dumps(faults)}")
        try:
            yield asked
        finally:
            asked.append(int(self._answer("faults null")))

    def _answer(self, line: str) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()
        return self.process.stdout.readline().decode().strip()

    def names(self, path: str) -> list[str]:
        """The paths of all objects below a path of the bucket, from there."""
        from pyarrow.fs import FileSelector, FileType

        base = f"{BUCKET}/{path}"
        found = self.files.get_file_info(FileSelector(base, recursive=True, allow_not_found=True))
        return sorted(info.path.removeprefix(f"{base}/") for info in found if info.type == FileType.File)

    def read(self, path: str) -> bytes:
        """The bytes of an object of the bucket."""
        with self.files.open_input_stream(f"{BUCKET}/{path}") as stream:
            found: bytes = stream.read()
        return found

    def write(self, path: str, data: bytes) -> None:
        """Put an object into the bucket."""
        with self.files.open_output_stream(f"{BUCKET}/{path}") as stream:
            stream.write(data)


@contextmanager
def s3_server(log: Path) -> Iterator[S3Server]:
    """A server during a block, on a free port; the bucket is there. `log` takes what it says."""
    with log.open("ab") as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", _SERVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
        )
    try:
        assert process.stdout is not None
        told = process.stdout.readline()
        assert told, f"the server did not start: {log.read_text(errors='replace')}"
        server = S3Server(int(told), process)
        server.files.create_dir(BUCKET)
        yield server
    finally:
        process.kill()
        process.communicate()
