"""`--conf KEY=VALUE`: settings of Spark that a command line gives, with the words of spark-submit."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

from kmc.errors import CommandLineError

SUBMITTED = "submitted"
"""Stands for the master of an application that `spark-submit` started."""

conf_option = click.option(
    "--conf",
    "spark_settings",
    metavar="KEY=VALUE",
    multiple=True,
    help="With --spark: a setting of Spark, as spark-submit has it; may be repeated. Give it again to resume a run.",
)

_OURS = {"spark.master": "name the master by --spark", "spark.app.name": "leave it out: kmc names its applications"}
_PREFIX = "spark."

# Spark hides the values of these too, in its logs and on its page.
_SECRET = re.compile(
    r"((?:--conf=)?spark\.[^=]*(?:secret|password|token|access.?key)[^=]*=).*", re.IGNORECASE | re.DOTALL
)


def settings_of(texts: Sequence[str], master: str | None) -> dict[str, str]:
    """Return the settings by name, the last of each; CommandLineError KMC647 for a text that is not a setting."""
    if texts and master is None:
        raise CommandLineError(
            "KMC647", "--conf gives a setting to Spark, and this command does not run on it", help="add --spark MASTER"
        )
    if texts and master == SUBMITTED:
        message = "an application of spark-submit takes no --conf"
        raise CommandLineError("KMC647", message, help="give --conf to spark-submit, before the application")
    settings = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.startswith(_PREFIX) or key != key.strip() or key == _PREFIX:
            # The value may be a secret.
            shown = f"{key}{'=...' if equals else ''}"
            message = f"--conf takes a setting of Spark and its value, not '{shown}'"
            raise CommandLineError("KMC647", message, help="write --conf spark.NAME=VALUE")
        if key in _OURS:
            raise CommandLineError("KMC647", f"kmc sets {key} itself", help=_OURS[key])
        settings[key] = value
    return settings


def without_secrets(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a command line, without the values of settings that are secret: they are shown and saved."""
    return tuple(_SECRET.sub(r"\1...", word) if _SECRET.fullmatch(word) else word for word in words)
