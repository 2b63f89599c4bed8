"""An archive of Java classes is used where it fits, is made once, and never changes what a JVM does or prints."""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark import SparkContext
from support.spark.cluster import SPARK_HOME
from support.spark.sessions import Sessions

from kmc_spark import class_archive
from kmc_spark.class_archive import ARCHIVE_VARIABLE, archive_file, archive_options, make, make_later
from kmc_spark.java import java_program
from kmc_spark.session import spark_context
from kmc_spark.train_archive import train

MAIN = "org.apache.spark.launcher.Main"
"""A program of Spark that prints a command line and ends."""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment with a cache of its own."""
    return {"KMC_CACHE_DIR": str(tmp_path / "cache")}


@pytest.fixture
def spark_home(tmp_path: Path) -> Path:
    """A folder with one jar of Spark."""
    jars = tmp_path / "spark" / "jars"
    jars.mkdir(parents=True)
    (launcher,) = (SPARK_HOME / "jars").glob("spark-launcher_*.jar")
    shutil.copy2(launcher, jars / "launcher.jar")
    return jars.parent


def test_there_is_one_archive_for_a_jvm_its_options_and_the_jars(spark_home: Path, environment: dict[str, str]) -> None:
    def place(options: str = "") -> Path | None:
        return archive_file(java_program(), options, str(spark_home), environment)

    first = place()
    assert first is not None
    assert first.parent == Path(environment["KMC_CACHE_DIR"], "java")
    assert place() == first
    os.utime(spark_home / "jars" / "launcher.jar", (1, 1))
    assert len({first, place(), place("-XX:+UseSerialGC")}) == 3


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (ARCHIVE_VARIABLE, "off"),
        ("HADOOP_CONF_DIR", "/etc/hadoop"),
        ("SPARK_DIST_CLASSPATH", "/x.jar"),
        ("SPARK_CONF_DIR", "/"),
        ("KMC_CACHE_DIR", "/a:b"),
    ],
)
def test_there_is_none_where_the_class_path_has_folders(
    name: str, value: str, spark_home: Path, environment: dict[str, str]
) -> None:
    assert archive_file(java_program(), "", str(spark_home), {**environment, name: value}) is None


def test_there_is_none_without_a_jvm_and_its_jars(spark_home: Path, environment: dict[str, str]) -> None:
    assert archive_file("/bin/sh", "", str(spark_home), environment) is None
    assert archive_file(java_program(), "", "/no/spark", environment) is None
    (spark_home / "conf").mkdir()
    assert archive_file(java_program(), "", str(spark_home), environment) is None


def test_an_archive_that_others_can_write_is_not_used(tmp_path: Path) -> None:
    file = tmp_path / "a.jsa"
    assert archive_options(None) == archive_options(file) == ""
    make(file, Path.touch)
    file.chmod(0o400)
    assert f"-XX:SharedArchiveFile={file}" in shlex.split(archive_options(file))
    file.chmod(0o620)
    assert archive_options(file) == ""
    file.rename(tmp_path / "b.jsa")
    (tmp_path / "b.jsa").chmod(0o400)
    file.symlink_to(tmp_path / "b.jsa")
    assert archive_options(file) == ""


@pytest.mark.parametrize("size", ["", "0", "77", "many"])
def test_an_archive_of_another_size_is_made_again(size: str, tmp_path: Path) -> None:
    file = tmp_path / "a.jsa"
    file.write_text("classes")
    (tmp_path / "a.size").write_text(size)
    assert archive_options(file) == ""
    make(file, lambda written: written.write_text("more classes"))
    assert archive_options(file)


def started(spark_home: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """The end of Spark's launcher, from the jars of a folder."""
    words = [java_program(), *options, "-cp", str(spark_home / "jars" / "*"), MAIN]
    return subprocess.run(
        [*words, "org.apache.spark.deploy.master.Master"],
        cwd=spark_home,
        env={**os.environ, "SPARK_HOME": str(spark_home), "SPARK_SCALA_VERSION": "2.13"},
        capture_output=True,
        text=True,
        check=False,
    )


def flip(file: Path, _: Path) -> None:
    """Change a bit of the classes."""
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 16
    file.write_bytes(data)


def blank(file: Path, _: Path) -> None:
    """Zeros only, as a disk may have them that lost its power."""
    file.write_bytes(bytes(file.stat().st_size))


def touch_jar(_: Path, spark_home: Path) -> None:
    """A jar of the same name and another time."""
    os.utime(spark_home / "jars" / "launcher.jar", (1, 1))


def remove(file: Path, _: Path) -> None:
    """Another process removes it between the look and the start."""
    file.unlink()


@pytest.mark.slow
@pytest.mark.parametrize("damage", [None, flip, blank, touch_jar, remove])
def test_a_jvm_does_the_same_with_any_archive(
    damage: Callable[[Path, Path], None] | None, spark_home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "a cache" / "a.jsa"
    runs = []
    make(file, lambda path: runs.append(started(spark_home, f"-XX:ArchiveClassesAtExit={path}", "-Xlog:disable")))
    (plain,) = runs
    assert (plain.returncode, plain.stderr) == (0, "")
    file.chmod(0o600)
    options = shlex.split(archive_options(file))
    if damage is not None:
        damage(file, spark_home)
    found = started(spark_home, *options)
    assert (found.returncode, found.stdout, found.stderr) == (0, plain.stdout, "")
    loaded = started(spark_home, *options, "-Xlog:class+load").stdout
    assert (f"{MAIN} source: shared objects file" in loaded) == (damage is None)


def test_an_archive_is_made_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "java" / "key.jsa"
    (tmp_path / "java" / "new-left").mkdir(parents=True)

    def killed(_: Path) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(file, killed)
    assert [path.name for path in file.parent.iterdir()] == ["lock"]
    make(file, lambda written: written.write_text("classes"))
    assert file.read_text() == "classes"
    make(file, lambda written: pytest.fail("it is there"))
    assert sorted(path.name for path in file.parent.iterdir()) == ["key.jsa", "key.size", "lock"]


def test_one_process_makes_an_archive(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        make(tmp_path / "key.jsa", lambda written: pytest.fail("another one makes it"))


def test_what_could_not_be_made_is_not_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path / "key.jsa", lambda written: None)
    make(tmp_path / "key.jsa", lambda written: pytest.fail("it failed before"))
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("it failed before"))
    make_later(tmp_path / "key.jsa", {})


def test_the_last_archives_are_kept(tmp_path: Path) -> None:
    for number in range(6):
        file = tmp_path / f"{number}.jsa"
        make(file, Path.touch)
        os.utime(file, (number, number))
    make(tmp_path / "new.jsa", Path.touch)
    assert len(list(tmp_path.glob("*.size"))) == 4
    assert sorted(file.name for file in tmp_path.glob("*.jsa")) == ["3.jsa", "4.jsa", "5.jsa", "new.jsa"]


def test_a_session_starts_one_process_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(subprocess, "run", lambda command, **_: commands.append(command))
    file = tmp_path / "key.jsa"
    make_later(None, {})
    make_later(file, {ARCHIVE_VARIABLE: "read"})
    assert not commands
    make_later(file, {})
    make(file, Path.touch)
    make_later(file, {})
    assert [command[-1] for command in commands] == [str(file)]


def test_the_process_does_not_last_longer_than_its_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = class_archive._PROGRAM.replace("from kmc_spark.train_archive import train; train(", "open(")
    monkeypatch.setattr(class_archive, "_PROGRAM", program.replace("argv[2])", "argv[2], 'w')"))
    make_later(tmp_path / "made", {})
    while not (tmp_path / "made").exists():
        pass


def test_a_folder_that_cannot_be_made_raises_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("signal.alarm", lambda _: 0)
    (tmp_path / "java").write_text("a file")
    train(str(tmp_path / "java" / "key.jsa"))


@pytest.mark.cluster
def test_a_session_has_the_classes_of_the_one_before(
    sessions: Sessions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    sessions.end()
    monkeypatch.setenv("KMC_CACHE_DIR", str(tmp_path / "cache"))
    subprocess.run([sys.executable, "-m", "kmc_spark.train_archive"], check=True)
    (file,) = (tmp_path / "cache" / "java").glob("*.jsa")
    with spark_context("local[1]", "kmc tests") as context:
        assert context.parallelize([1, 2], 1).collect() == [1, 2]
        assert str(file) in Path(f"/proc/{java_of(context)}/maps").read_text()
    assert capfd.readouterr() == ("", "")


def java_of(context: SparkContext) -> Any:
    """The number of the driver's JVM."""
    assert context._jvm is not None
    return json.loads(str(context._jvm.java.lang.ProcessHandle.current().pid()))
