"""`--conf KEY=VALUE`: what is a setting of Spark, what is refused, and what is never shown; texts about Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.commands.cli_runner import kmc

from kmc.cli.options.spark_settings import settings_of, without_secrets
from kmc.cli.text.progress_text import Scale, shard_fields, shards_text
from kmc.cli.text.render_result import shards_lines
from kmc.errors import CommandLineError
from kmc.result import Counters, LevelInWork, ShardFigures, ShardProgress

ON_SPARK = ("--spark", "local[1]")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--conf", "spark.a=1"), "error[KMC647]: --conf gives a setting to Spark"),
        (("--shards", "2", "--conf", "spark.a=1"), "error[KMC647]: --conf gives a setting to Spark"),
        (
            (*ON_SPARK, "--conf", "spark.a"),
            "error[KMC647]: --conf takes a setting of Spark and its value, not 'spark.a'",
        ),
        (
            (*ON_SPARK, "--conf", "spark.=1"),
            "error[KMC647]: --conf takes a setting of Spark and its value, not 'spark.=...'",
        ),
        ((*ON_SPARK, "--conf", "a=1"), "error[KMC647]: --conf takes a setting of Spark and its value, not 'a=...'"),
        ((*ON_SPARK, "--conf", "=1"), "error[KMC647]: --conf takes a setting of Spark and its value, not '=...'"),
        ((*ON_SPARK, "--conf", "spark.a =1"), "error[KMC647]: --conf takes a setting of Spark and its value"),
        ((*ON_SPARK, "--conf", "spark.master=yarn"), "error[KMC647]: kmc sets spark.master itself"),
        ((*ON_SPARK, "--conf", "spark.app.name=x"), "error[KMC647]: kmc sets spark.app.name itself"),
        (
            ("--spark", "submitted", "--conf", "spark.a=1"),
            "error[KMC647]: an application of spark-submit takes no --conf",
        ),
        (("--all", "--conf", "spark.a=1"), "error[KMC625]"),
    ],
)
def test_what_is_not_a_setting_is_refused_before_anything_starts(
    words: tuple[str, ...], error: str, tmp_path: Path
) -> None:
    found = kmc("check", "die_hard", "--run-dir", str(tmp_path), *words)
    assert (found.exit_code, error in found.stderr) == (2, True), found.stderr
    assert list(tmp_path.iterdir()) == []


def test_tables_without_spark_have_no_settings_of_it() -> None:
    found = kmc("states", "a-run", "--conf", "spark.a=1")
    assert (found.exit_code, "error[KMC647]" in found.stderr) == (2, True)


def test_the_last_value_of_a_setting_counts_and_may_be_any_text() -> None:
    given = ("spark.a=1", "spark.b=", "spark.driver.extraJavaOptions=-Da=b -Dc=d", "spark.a=2")
    wanted = {"spark.a": "2", "spark.b": "", "spark.driver.extraJavaOptions": "-Da=b -Dc=d"}
    assert settings_of(given, "local[1]") == wanted
    assert settings_of((), None) == {}


def test_an_error_shows_no_secret() -> None:
    with pytest.raises(CommandLineError) as caught:
        settings_of(["spark.hadoop.secret =hunter2"], "local[1]")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("spark.executorEnv.AWS_SECRET_ACCESS_KEY=a=b", "spark.executorEnv.AWS_SECRET_ACCESS_KEY=..."),
        ("--conf=spark.executorEnv.AWS_ACCESS_KEY_ID=a", "--conf=spark.executorEnv.AWS_ACCESS_KEY_ID=..."),
        ("spark.ssl.keyPassword=a\nb", "spark.ssl.keyPassword=..."),
        ("spark.executorEnv.AWS_SESSION_TOKEN=a", "spark.executorEnv.AWS_SESSION_TOKEN=..."),
        ("spark.executor.memory=2g", "spark.executor.memory=2g"),
        ("SECRET=1", "SECRET=1"),
    ],
)
def test_a_secret_is_not_shown_again(word: str, shown: str) -> None:
    assert without_secrets(["--conf", word]) == ("--conf", shown)


def progress(executors: int | None) -> str:
    level = LevelInWork(level=11, phase="expand", done=0, tasks=1, new=0, task_skew=None)
    counters = Counters(generated=5, distinct=5, left=1, depth=10, seconds=1.0, memory_bytes=1)
    return shards_text(counters, ShardProgress(1, 1, 1, 1.0, 64, level, executors=executors))


def test_progress_says_that_there_are_no_executors() -> None:
    assert "; Spark has no executors, and waits for one." in progress(0)
    assert "executors" not in progress(2) + progress(None)


DRIVER = " The driver made those of fewer than 300,000 rows (--thin-rows)."


@pytest.mark.parametrize(
    ("levels", "thin_rows", "text"),
    [
        ((9,), 300_000, f"1 level was a job of Spark: 9.{DRIVER}"),
        ((9, 10, 11), 300_000, f"3 levels were jobs of Spark: 9 to 11.{DRIVER}"),
        ((2, 9, 10, 12), 300_000, f"4 levels were jobs of Spark: 2, 9 to 10, 12.{DRIVER}"),
        (tuple(range(1, 2_001, 2)), 300_000, f"1000 levels were jobs of Spark: between 1 and 1,999.{DRIVER}"),
        ((1, 2), 0, "2 levels were jobs of Spark: 1 to 2."),
        ((), 0, "Spark made no level."),
        (
            (),
            7_000,
            "Spark made no level: all have fewer than 7,000 rows, which the driver makes faster than a job. "
            "This check needs no cluster; --thin-rows N makes jobs of smaller levels.",
        ),
        (None, None, ""),
    ],
)
def test_a_result_says_which_levels_were_jobs(levels: tuple[int, ...] | None, thin_rows: int | None, text: str) -> None:
    figures = ShardFigures(64, 1, 1, 1, 1, 1, 1, shards_used=4, job_levels=levels, thin_rows=thin_rows)
    first, _, *more = shards_lines(figures, 10)
    assert first.startswith("4 of 64 shards in use, per state:")
    assert more == ([text] if text else [])


@pytest.mark.parametrize(
    ("is_job", "log", "live"),
    [
        (None, "Level 11 in work: expand 0", "level 11: expand 0"),
        (True, "Level 11 in work, a job of Spark: expand 0", "level 11 as a job: expand 0"),
        (False, "Level 11 in work, in the driver: expand 0", "level 11 in the driver: expand 0"),
    ],
)
def test_progress_says_where_a_level_is_made(is_job: bool | None, log: str, live: str) -> None:
    level = LevelInWork(level=11, phase="expand", done=0, tasks=1, new=0, task_skew=None)
    counters = Counters(generated=5, distinct=5, left=1, depth=10, seconds=1.0, memory_bytes=1)
    shards = ShardProgress(1, 1, 1, 1.0, 64, level, is_job=is_job)
    assert shards_text(counters, shards).startswith(log)
    assert shard_fields(counters, shards, None, Scale())[1].startswith(live)


def test_thin_levels_need_spark(tmp_path: Path) -> None:
    for words in ((), ("--shards", "2")):
        found = kmc("check", "die_hard", "--run-dir", str(tmp_path), "--thin-rows", "0", *words)
        assert (found.exit_code, "error[KMC616]: only a search on Spark has thin levels" in found.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == []
