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
METHODS = ("GET", "HEAD", "PUT", "POST", "DELETE")
FAULTS: tuple[int | str, ...] = (503, 500, 429, "cut", "dropped", "unanswered")
"""All faults after which a request may succeed; see `_SERVE`."""
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "kmc", "AWS_SECRET_ACCESS_KEY": "kmc-secret", "AWS_EC2_METADATA_DISABLED": "true"}

# It prints its port when it listens, and answers each line: `stop` lets it listen no more, `start` again, with all that
# it holds, and `faults JSON` makes some requests fail. It ends with its standard input: whatever happens to the tests.
# A fault is a status; or the connection is lost before the request is done (`dropped`), before its answer
# (`unanswered`), or in the middle of the answer (`cut`).
_SERVE = """
import json, random, socket, sys, threading
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

BODY = b"<Error><Code>%s</Code><Message>This is a fault of a test.</Message></Error>" + b" " * 200
NAMES = {503: b"SlowDown", 500: b"InternalError", 429: b"TooManyRequests", 403: b"AccessDenied"}
moto, faults, asked, lock = DomainDispatcherApplication(create_backend_app), None, 0, threading.Lock()

def fault_of(environ):
    global asked
    with lock:
        if not faults or environ["REQUEST_METHOD"] not in faults["methods"]:
            return None
        if faults["path"] not in environ["PATH_INFO"]:
            return None
        number, asked = asked, asked + 1
        if "seed" in faults:
            return draws.choice(faults["kinds"]) if draws.random() < faults["share"] else None
        return faults["kinds"][0] if number % faults["of"] < faults["fail"] else None

def application(environ, start_response):
    fault = fault_of(environ)
    if fault is None:
        return moto(environ, start_response)
    connection = environ["werkzeug.socket"]
    if fault in ("dropped", "unanswered"):
        if fault == "unanswered":
            b"".join(moto(environ, lambda *given: None))
        connection.shutdown(socket.SHUT_RDWR)
        raise ConnectionResetError
    if fault == "cut":
        return cut(moto(environ, start_response), connection)
    body = BODY % NAMES[fault]
    headers = [("Content-Type", "application/xml"), ("Content-Length", str(len(body)))]
    start_response(f"{fault} Fault", headers)
    return [body if environ["REQUEST_METHOD"] != "HEAD" else b""]

def cut(answer, connection):
    whole = b"".join(answer)
    yield whole[: len(whole) // 2]
    connection.shutdown(socket.SHUT_RDWR)
    raise ConnectionResetError

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
        draws = random.Random(faults and faults.get("seed"))
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
        faults = {"fail": fail, "of": of, "kinds": [status or "dropped"], "path": path, "methods": methods}
        with self._faulty(faults) as asked:
            yield asked

    @contextmanager
    def stressed(
        self, seed: int, share: float, kinds: Sequence[int | str] = FAULTS, path: str = ""
    ) -> Iterator[list[int]]:
        """Let a share of all requests for some path fail, drawn by a seed; see `failing`."""
        faults = {"seed": seed, "share": share, "kinds": kinds, "path": path, "methods": METHODS}
        with self._faulty(faults) as asked:
            yield asked

    @contextmanager
    def _faulty(self, faults: dict[str, Any]) -> Iterator[list[int]]:
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
