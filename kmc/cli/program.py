"""The program `kmc`: its commands, and the rendering of failures on stderr, with the exit status of their kind.

A command is imported when it is used: all of them take half a second, `kmc --help` and the smaller ones a tenth of it.
"""

from __future__ import annotations

import errno
import importlib
import shlex
import sys
from bdb import BdbQuit
from collections.abc import Sequence
from itertools import takewhile
from typing import Any, NoReturn

import click

from kmc import __version__
from kmc.cli.text.console import show, stderr, stdout_fault
from kmc.cli.text.render_story import styled
from kmc.cli.text.word_warnings import word_warnings
from kmc.ending_signals import INTERRUPTED
from kmc.error_text import error_lines, internal_error_lines, traceback_text
from kmc.errors import CommandLineError, ExitStatus, KmcError, SystemFault, did_you_mean
from kmc.process import uncollected

GROUPS = {
    "Check": {
        "check": ("check:check", "Explore all states of a model and test its properties."),
        "claims": (
            "claims:claims",
            "List the claims of the documents, and the models that show them.",
        ),
        "simulate": ("simulate:simulate", "Run random behaviours and test the properties in them."),
        "plan": ("plan:plan", "Estimate how many states a model has, and what a check of it needs."),
    },
    "Look at what was found": {
        "trace": ("trace:trace", "Show a saved trace, or convert it."),
        "replay": ("replay:replay_trace", "Replay a saved trace against the spec as it is now."),
        "eval": ("eval:evaluate", "Evaluate an expression in a state of a trace or of a model."),
        "explore": ("explore:explore", "Walk through the states of a model on a local page."),
        "graph": ("graph:graph", "Print the state graph of a small model as GraphML, DOT or JSON."),
        "specs": ("specs:specs", "List the shipped specs, or the declarations of one."),
    },
    "Write specs": {
        "new": ("new:new_spec", "Write the folder of a new spec, with models and tests."),
        "translate": ("translate:translate", "Write a TLA+ module as a spec of kmc's language."),
        "conform": ("conform:conform", "Compare a spec with TLA+, step by step."),
    },
    "Large models and their states": {
        "runs": ("runs:runs", "List the saved runs, or remove some."),
        "states": ("states:states", "Write the explored states of a run as tables."),
        "query": ("query:query", "Ask the tables of a run in SQL."),
    },
    "Maintain results": {
        "report": ("report:report", "Run the models of a spec and write results/SPEC.md and .json."),
        "bench": ("bench:bench", "Measure time and memory per state on named models."),
    },
}
"""The commands in the groups of the README: where each is defined in `kmc.cli.commands`, and its line in the help."""

COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}


class Program(click.Group):
    """A group of commands whose return value is the exit status, and whose errors are kmc's."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, imported now; None when there is none."""
        if cmd_name not in COMMANDS:
            return None
        module, name = COMMANDS[cmd_name][0].split(":")
        with uncollected():
            command: click.Command = getattr(importlib.import_module(f"kmc.cli.commands.{module}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the lines of the commands into the help, in their groups."""
        width = max(map(len, COMMANDS))
        for title, group in GROUPS.items():
            with formatter.section(title):
                # As wide as the longest of all, so that the lines of the groups are aligned.
                formatter.write_dl([(name.ljust(width), summary) for name, (_, summary) in group.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names; CommandLineError with a near miss when there is none."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            raise CommandLineError("KMC601", f"there is no command '{name}'", help=did_you_mean(name, COMMANDS))
        return super().resolve_command(ctx, args)

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> NoReturn:
        """Run a command line and exit. It never returns, and shows a traceback only under `--debug`."""
        words = list(sys.argv[1:] if args is None else args)
        extra.update(standalone_mode=False, prog_name="kmc", obj=tuple(words))
        try:
            _refuse_split_set(words)
            show(word_warnings(words), stderr())
            status = super().main(words, **extra)
        except Exception as error:
            status = _failed(error, words)
        sys.exit(int(status) if isinstance(status, int) else ExitStatus.OK)


def _refuse_split_set(words: Sequence[str]) -> None:
    """Raise CommandLineError if the shell split `--set Server={a,b}`, written without quotes, into several words."""
    for at, word in enumerate(words[:-1]):
        name, _, first = words[at + 1].partition("=")
        if word != "--set" or not first:
            continue
        if first.startswith("{") and "}" not in first:
            behind = list(takewhile(lambda text: not text.startswith("-"), words[at + 2 :]))
            end = next((index for index, text in enumerate(behind) if text.endswith("}")), None)
            members = [] if end is None else [first, *behind[: end + 1]]
            split = " ".join(members)
        else:
            # bash expands Server={a,b} to Server=a Server=b.
            pairs = [text.partition("=") for text in words[at + 1 :]]
            others = (index for index, pair in enumerate(pairs) if pair[:2] != (name, "="))
            members = [value for _, _, value in pairs[: next(others, len(pairs))]]
            split = "{" + ",".join(members) + "}"
        if len(members) > 1:
            message = f"the shell made {len(members)} words of --set {name}={split}"
            raise CommandLineError("KMC603", message, help=f"quote it: --set {shlex.quote(f'{name}={split}')}")


def _failed(error: Exception, words: Sequence[str]) -> int:
    """Render a failure; the exit status of its kind."""
    if isinstance(error, click.Abort | BdbQuit):
        show([INTERRUPTED], stderr())
        return ExitStatus.INTERRUPTED
    known = _as_kmc_error(error, words)
    if "--debug" in words:
        show([traceback_text(error)], stderr())
    show(styled(internal_error_lines(error) if known is None else error_lines(known)), stderr())
    return ExitStatus.INTERNAL if known is None else known.exit_status


def _as_kmc_error(error: Exception, words: Sequence[str]) -> KmcError | None:
    """The error in kmc's own tree, or None for an unexpected one."""
    match error:
        case KmcError():
            return error
        case click.NoSuchOption(option_name=name, ctx=ctx):
            known = [option for parameter in ctx.command.params for option in parameter.opts] if ctx else []
            return CommandLineError("KMC602", f"there is no option '{name}'", help=did_you_mean(name, known))
        case click.UsageError(ctx=ctx):
            path = ctx.command_path if ctx else "kmc"
            message = error.format_message().rstrip(".")
            return CommandLineError("KMC603", message[:1].lower() + message[1:], help=f"see: {path} --help")
        case click.ClickException():
            return CommandLineError("KMC603", error.format_message(), help="see: kmc --help")
        case MemoryError():
            return SystemFault(
                "KMC501",
                f"out of memory: {shlex.join(['kmc', *words])}",
                help="stop in time with --memory 4G or --max-states N, or check a smaller model",
            )
        case OSError(errno=errno.ENAMETOOLONG | errno.ELOOP, filename=filename):
            # Only paths that a person types are so long, or lead in a circle.
            return CommandLineError("KMC603", f"'{filename}': {error.strerror}", help="give another path")
        case OSError(errno=errno.ENOSPC, filename=None):
            # Text that click prints itself, such as --help; files of kmc's have faults of their own.
            return stdout_fault(error)
        case _:
            return None


@click.group(cls=Program, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="kmc %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> int:
    """kmc checks a spec: it visits every state that the spec can reach and tests the invariants in each.

    Specs are written in immutable, typed Python and mean what a TLA+ spec means; counts, traces and exit statuses are
    those of TLC. Shipped specs, such as Kafka's KRaft, are known by name; give the folder of your own spec.

    \b
    Examples:
      kmc specs                      list the specs
      kmc check kraft                explore the model `smoke` of KRaft
      kmc check kraft standard       another model
      kmc new my_spec                write a spec of your own, to change it
      kmc check ./my_spec --set N=3  explore its model `smoke` with another value

    `kmc COMMAND --help` explains a command with examples.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
    return ExitStatus.OK
