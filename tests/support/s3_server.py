"""A server that is compatible with S3, as a process of its own: moto's, with nothing in it at first."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BUCKET = "kmc-bucket"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "kmc", "AWS_SECRET_ACCESS_KEY": "kmc-secret", "AWS_EC2_METADATA_DISABLED": "true"}

# It prints its port when it listens. A line lets it listen no more, the next one again, with all that it holds. It ends
# with its standard input: whatever happens to the tests.
_SERVE = """
import sys, threading
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server
application, port = DomainDispatcherApplication(create_backend_app), 0
while True:
    server = make_server("127.0.0.1", port, application, threaded=True)
    port = server.server_port
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    serving.start()
    print(port, flush=True)
    if not sys.stdin.readline():
        break
    server.shutdown()
    server.server_close()
    print("stopped", flush=True)
    if not sys.stdin.readline():
        break
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
        assert self._said() == b"stopped\n"

    def start(self) -> None:
        """Accept connections again."""
        assert int(self._said()) == self.port

    def _said(self) -> bytes:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()

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
