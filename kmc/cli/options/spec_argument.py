"""The argument SPEC where it may be left out, because another option names the spec."""

from __future__ import annotations

import os

import click

from kmc.frontend.shipped import shipped_folder


def spec_or_start(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """SPEC may be left out with `--from`: the trace names it."""
    if value is None and not ctx.params.get("start"):
        raise click.UsageError("Missing argument 'SPEC'.", ctx)
    return value


def spec_or_resume(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """SPEC may be left out with `--resume` and `--from`, and with `--all`.

    With `--all` it is the working directory, or with `--claim` the folder of the shipped specs.
    """
    if value is None and ctx.params.get("all_models"):
        shipped = shipped_folder() if ctx.params.get("claims") else None
        return os.curdir if shipped is None else str(shipped)
    return value if ctx.params.get("resume") else spec_or_start(ctx, param, value)
