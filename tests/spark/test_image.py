"""The image of `distributed/submit/Dockerfile` starts Spark: its user and its Java, tried here, without Docker.

The commands of the file that matter here are run as they stand there, with other places.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kmc_spark.java import java_variables

TOP = Path(__file__).resolve().parents[2]
FILE = (TOP / "distributed" / "submit" / "Dockerfile").read_text()
PROGRAM = """
import os
from kmc_spark.session import spark_context
with spark_context("local[1]", "an image") as context:
    home = context._jvm.java.lang.System.getProperty("user.home")
    print(os.getuid(), home, context.parallelize(range(7), 1).count())
"""


def instructions(word: str) -> list[str]:
    """What follows a word such as RUN in the file, without continuations of lines."""
    text = re.sub(r"^#.*\n", "", FILE, flags=re.MULTILINE).replace("\\\n", " ")
    return re.findall(rf"^{word} (.*)$", text, re.MULTILINE)


def the_user() -> str:
    """The user of the image's processes."""
    return instructions("USER")[-1].strip()


def passwd_line(home: Path) -> str:
    """What `useradd` puts into /etc/passwd for the user of the image, with another home; nothing without it."""
    for command in (part.strip() for run in instructions("RUN") for part in run.split("&&")):
        if command.startswith("useradd "):
            parser = argparse.ArgumentParser()
            for option in ("--uid", "--gid", "--home-dir", "--shell"):
                parser.add_argument(option, default="")
            parser.add_argument("--create-home", action="store_true")
            parser.add_argument("name")
            given = parser.parse_args(shlex.split(command)[1:])
            assert given.create_home, "Spark writes there"
            if given.uid == the_user():
                return f"{given.name}:x:{given.uid}:{given.gid or given.uid}::{home}:/bin/sh\n"
    return ""


def java_of_the_image(link: Path) -> dict[str, str]:
    """JAVA_HOME of the image: a link that the file makes, made here with the Java of this machine."""
    (home,) = [value for env in instructions("ENV") for value in re.findall(r"JAVA_HOME=(\S+)", env)]
    (command,) = [
        part.strip() for run in instructions("RUN") for part in run.split("&&") if part.strip().startswith("ln -s")
    ]
    assert command.endswith(f" {home}"), "JAVA_HOME is the link"
    java = java_variables()["KMC_JAVA"]
    subprocess.run(
        ["sh", "-c", command.removesuffix(home) + str(link)],
        env={"PATH": f"{Path(java).parent}:{os.environ['PATH']}"},
        check=True,
    )
    return {"JAVA_HOME": str(link)}


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that any user may enter, unlike those of pytest."""
    with tempfile.TemporaryDirectory(prefix="kmc-image-") as name:
        os.chmod(name, 0o755)
        yield Path(name)


def may_mount() -> bool:
    """Whether this process may give another one its own /etc/passwd."""
    if os.getuid() != 0 or shutil.which("unshare") is None or shutil.which("setpriv") is None:
        return False
    return subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode == 0


def as_the_user(place: Path, home: Path) -> list[str]:
    """The words before a command that runs as the image's user, known to the system as it is there."""
    uid = the_user()
    os.chown(home, int(uid), int(uid))
    passwd = place / "passwd"
    passwd.write_text(Path("/etc/passwd").read_text() + passwd_line(home))
    # It may read the environment of the tests, wherever that lies.
    caps = ["--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search"]
    user = ["setpriv", "--reuid", uid, "--regid", uid, "--clear-groups", *caps]
    return [
        *("unshare", "--mount", "sh", "-c", 'mount --bind "$1" /etc/passwd && shift && exec "$@"', "sh"),
        *(str(passwd), *user),
    ]


@pytest.mark.slow
def test_spark_starts_as_the_user_and_with_the_java_of_the_image(place: Path) -> None:
    # Where this process may not be another user, Spark starts as this one: what the file says of users, see below.
    home = place / "home"
    home.mkdir()
    before, uid = (as_the_user(place, home), int(the_user())) if may_mount() else ([], os.getuid())
    variables = {**java_of_the_image(place / "java"), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    variables |= {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(home)}
    ran = subprocess.run(
        [*before, sys.executable, "-c", PROGRAM],
        cwd=home,
        env=variables,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found, java_home, count = ran.stdout.split()
    assert (int(found), int(count)) == (uid, 7)
    assert Path(java_home).is_absolute()
    if before:
        assert java_home == str(home)


def test_the_user_of_the_image_exists() -> None:
    # Without a line in /etc/passwd, Java's home folder is `?`, and Spark does not start.
    assert passwd_line(Path("/home")).split(":")[2] == the_user()
    assert FILE.index("useradd") < FILE.index("\nUSER")


def test_the_java_of_the_image_is_that_of_any_architecture() -> None:
    assert not re.search(r"amd64|arm64|x86_64|aarch64", FILE)


@pytest.mark.parametrize(
    "name", [".git/config", ".venv/bin/python", "kmc/__pycache__/x.pyc", ".kmc/runs/x", "results/x"]
)
def test_what_an_executor_does_not_need_stays_out_of_the_image(name: str) -> None:
    assert not sent_to_docker(name)


@pytest.mark.parametrize(
    "name",
    [
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "kmc/errors.py",
        "specs/kraft/models.toml",
        "distributed/submit/kmc_check.py",
    ],
)
def test_what_is_installed_is_in_the_image(name: str) -> None:
    assert (TOP / name).is_file()
    assert sent_to_docker(name)


def sent_to_docker(name: str) -> bool:
    """Whether `.dockerignore` lets a file through: the last line that names it, or a folder above it, counts."""
    parts, found = name.split("/"), True
    above = ["/".join(parts[: count + 1]) for count in range(len(parts))]
    for line in (TOP / ".dockerignore").read_text().split("\n"):
        pattern = line.strip().removeprefix("!")
        if not pattern or pattern.startswith("#"):
            continue
        tails = [path.split("/", skip)[-1] for path in above for skip in range(path.count("/") + 1)]
        paths = (
            tails if pattern.startswith("**/") else [path for path in above if path.count("/") == pattern.count("/")]
        )
        if any(fnmatch.fnmatchcase(path, pattern.removeprefix("**/")) for path in paths):
            found = line.startswith("!")
    return found
